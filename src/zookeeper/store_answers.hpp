#pragma once

#include "zookeeper/claim_course.hpp"
#include "zookeeper/lookups.hpp"

#include <string_view>

namespace holdfast::zookeeper_store {

// Reads what arrives from the servers, and tells it to the claims.
class store_answers final : public servers_owner {
public:
    // All of these outlive it.
    store_answers(claim_table& claims, session& kept, session_keeper& keeper, servers& all,
        requester& out, latecomers& late, watched_nodes& watched, claim_course& course,
        lookups& questions, const lock_settings& settings) noexcept
        : claims_(claims),
          session_(kept),
          keeper_(keeper),
          servers_(all),
          out_(out),
          late_(late),
          watched_(watched),
          course_(course),
          lookups_(questions),
          settings_(settings)
    {}

    wire::connect_request greeting() override
    {
        return session_.greeting(settings_.ensemble.session_timeout);
    }
    void on_greeted(
        const wire::connect_reply& reply, core::time_point sent, core::time_point now) override;
    void on_up(core::time_point now) override;
    void on_down(core::time_point now) override;
    void on_cut_off(errc why, core::time_point now) override;
    void on_reply(
        const wire::reply_header& header, std::string_view record, core::time_point now) override;
    void on_event(const wire::watch_event& event, core::time_point now) override;

    // Lists the queue of a holder, who wants to know of others in it.
    void look_for_waiters(core::claim_id id, core::time_point now);

private:
    void arrived(
        const request& r, std::int32_t error, const wire::reply_body& body, core::time_point now);
    void of_claim(const request& r, claim& c, std::int32_t error, const wire::reply_body& body,
        core::time_point now);
    void of_session(const request& r, std::int32_t error, core::time_point now);
    void waiters(core::claim_id id, claim& c, std::int32_t error, const wire::reply_body& body);

    claim_table& claims_;
    session& session_;
    session_keeper& keeper_;
    servers& servers_;
    requester& out_;
    latecomers& late_;
    watched_nodes& watched_;
    claim_course& course_;
    lookups& lookups_;
    const lock_settings& settings_;
};

} // namespace holdfast::zookeeper_store
