#pragma once

#include "core/backend.hpp"
#include "core/claim_deadlines.hpp"
#include "core/ring.hpp"
#include "zookeeper/claim_table.hpp"
#include "zookeeper/held_claims.hpp"
#include "zookeeper/latecomers.hpp"
#include "zookeeper/removals.hpp"
#include "zookeeper/requester.hpp"
#include "zookeeper/server_settings.hpp"
#include "zookeeper/session_keeper.hpp"
#include "zookeeper/watched_nodes.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast::zookeeper_store {

// Decides on the next stage of each claim, by what the servers have told, and reports it.
//
// A claim is a node in the folder of its resource, under the session of the locker. The node that
// was created first holds the resource.
class claim_course {
public:
    // All of these outlive it.
    claim_course(claim_table& claims, session& kept, session_keeper& keeper, requester& out,
        latecomers& late, watched_nodes& watched, const servers& all,
        const lock_settings& settings);

    // An extension may need more than half of the session's timeout: see heartbeats.
    core::duration patience(core::duration ttl) const noexcept
    {
        return session_.effective(ttl) * 6 / 10;
    }
    // How long an answer may take.
    core::duration answer_time() const noexcept;
    // The data of nodes from now on.
    void introduce(std::string value) { value_ = std::move(value); }

    // Reports it to the locker.
    void report(const core::backend_event& what) { events_.push(what); }
    std::optional<core::backend_event> next_event();

    // A new claim: its node is to be created.
    void begin(core::claim_id id, claim& c, core::time_point now);
    void refuse(core::claim_id id, errc why, core::time_point now);
    void leave(core::claim_id id, claim& c, core::time_point now);
    held_claims& held() noexcept { return held_; }
    removals& deletions() noexcept { return removals_; }

    // Answers.
    void created(core::claim_id id, claim& c, std::int32_t error, const wire::reply_body* node,
        core::time_point now);
    void listed(core::claim_id id, claim& c, std::int32_t error,
        const std::vector<std::string>& names, core::time_point now);
    void looked(core::claim_id id, claim& c, std::int32_t error, core::time_point now);
    void has_folder(const request& r, claim& c, std::int32_t error, core::time_point now);
    void left(core::claim_id id, claim& c, std::int32_t error, core::time_point now);
    // The node before the claim has changed.
    void look_again(core::claim_id id, claim& c, core::time_point now);
    // It is gone.
    void before_is_gone(core::claim_id id, claim& c, core::time_point now);

    // The session is there, on a new connection or a new one.
    void connected(core::time_point now);
    void disconnected();
    // The session has been confirmed.
    void confirmed(core::time_point now);
    // The servers have ended the session, and have deleted all its nodes.
    void lose_session(core::time_point now);
    // No server can be used.
    void cut_off(errc why, core::time_point now);

    // When the servers have to confirm the session soon.
    bool is_waiting_for_session() const noexcept { return !turns_.empty() || held_.hurries(); }
    core::time_point wake_at() const noexcept { return deadlines_.earliest(); }
    void wake(core::time_point now);

private:
    bool can_ask() const noexcept { return out_.can_send() && session_.is_alive(); }
    void ask(core::claim_id id, claim& c, core::time_point now);
    void ask_anew(core::claim_id id, claim& c, core::time_point now);
    void list(core::claim_id id, claim& c, core::time_point now);
    void stop_watching(core::claim_id id, const claim& c);
    void decide(core::claim_id id, claim& c, core::time_point now);
    void take_turn(core::claim_id id, claim& c, bool is_confirmed, core::time_point now);
    void end(core::claim_id id, bool deleted);
    void expire(core::claim_id id, core::time_point now);

    claim_table& claims_;
    session& session_;
    session_keeper& keeper_;
    requester& out_;
    latecomers& late_;
    watched_nodes& watched_;
    const servers& servers_;
    const lock_settings& settings_;
    std::string value_;
    core::claim_deadlines deadlines_;
    core::ring<core::backend_event> events_;
    std::vector<core::claim_id> turns_; // of claims that are first
    held_claims held_;
    removals removals_;
};

} // namespace holdfast::zookeeper_store
