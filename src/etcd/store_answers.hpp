#pragma once

#include "etcd/claim_course.hpp"
#include "etcd/departures.hpp"
#include "etcd/failure.hpp"
#include "etcd/lookups.hpp"

#include <string>

namespace holdfast::etcd_store {

// Reads what arrives from the store, and tells it to the claims.
class store_answers final : public members_owner {
public:
    // All of these outlive it.
    store_answers(claim_table& claims, session_keeper& sessions, members& servers, call_book& calls,
        claim_desk& desk, watches& queues, claim_course& course, lookups& questions,
        store_history& history) noexcept
        : claims_(claims),
          sessions_(sessions),
          members_(servers),
          calls_(calls),
          desk_(desk),
          watches_(queues),
          course_(course),
          lookups_(questions),
          history_(history)
    {}

    void on_up(core::time_point now) override;
    void on_down(core::time_point now) override;
    void on_cut_off(errc why, core::time_point now) override;
    void on_arrival(const wire::arrival& what, core::time_point now) override;
    void gather_requests() override { desk_.make_requests(); }
    bool has_requests() const noexcept override { return desk_.has_requests(); }

private:
    void arrived(const request& r, core::time_point now);
    void on_stream(const wire::arrival& what, core::time_point now);
    void drop(const request& r);
    void asked(const request& r, const wire::txn_reply& reply, core::time_point now);
    void listed(const request& r, const wire::list_reply& reply, core::time_point now);
    void failed(const request& r, const failure& f, const std::string& text, core::time_point now);
    void refuse_new(const request& r, errc why, core::time_point now);
    void watched(const wire::watch_reply& reply, core::time_point now);
    void watch_refused(errc why, const std::string& text, core::time_point now);
    void waited(core::claim_id holder, const wire::watch_reply& reply);
    void kept_alive(std::size_t session, const wire::lease_reply& reply, core::time_point now);
    bool accept(const wire::reply_header& header, std::int64_t floor, core::time_point now);

    claim_table& claims_;
    session_keeper& sessions_;
    members& members_;
    call_book& calls_;
    claim_desk& desk_;
    watches& watches_;
    claim_course& course_;
    lookups& lookups_;
    store_history& history_;
    bool watch_was_refused_ = false; // since the last one that was not
};

} // namespace holdfast::etcd_store
