#pragma once

#include "core/backend.hpp"
#include "core/claim_deadlines.hpp"
#include "core/ring.hpp"
#include "etcd/claim_desk.hpp"
#include "etcd/claim_table.hpp"
#include "etcd/members.hpp"
#include "etcd/session_keeper.hpp"
#include "etcd/watches.hpp"

#include <optional>
#include <span>
#include <vector>

namespace holdfast::etcd_store {

// Decides on the next stage of each claim, by what the store has told, and reports it.
//
// A claim is a key in the queue of its resource, under the lease of its session. The key that was
// created first holds the resource.
class claim_course {
public:
    // All of these outlive it. `request_timeout`: 0: from the ttl.
    claim_course(claim_table& claims, session_keeper& sessions, members& servers, claim_desk& desk,
        watches& queues, core::duration request_timeout) noexcept
        : claims_(claims),
          sessions_(sessions),
          members_(servers),
          desk_(desk),
          watches_(queues),
          request_timeout_(request_timeout)
    {}

    core::duration patience(core::duration ttl) const noexcept;

    // Reports it to the locker.
    void report(const core::backend_event& what) { events_.push(what); }
    std::optional<core::backend_event> next_event();

    // A new claim: its request is to be made.
    void begin(core::claim_id id, claim& c, core::duration preparation, core::time_point now);
    // Its place in the queue is known as of a revision.
    void decide(core::claim_id id, claim& c, std::int64_t revision, core::time_point now);
    // Keys of its queue were deleted.
    void deleted(
        core::claim_id id, claim& c, std::span<const wire::deletion> keys, core::time_point now);
    // Its key is gone, or was never there: it goes to the end of the queue.
    void ask_anew(core::claim_id id, claim& c);
    void refuse(core::claim_id id, errc why, core::time_point now);
    // It has no key, unless a request of it is dubious.
    void refuse_without_key(core::claim_id id, errc why, core::time_point now);
    void leave(core::claim_id id, claim& c, core::time_point now);
    // Nothing of it is left at the server. An earlier request without an answer may have deleted
    // its key.
    void left(core::claim_id id, bool deleted, core::time_point now);
    // The server has refused to delete its key now: again, after a while.
    void leave_later(core::claim_id id, claim& c, core::time_point now)
    {
        deadlines_.set(id, now + patience(c.terms.ttl));
    }

    // The server has confirmed a session by a request that was sent then.
    void confirmed(std::size_t session, core::time_point sent, core::time_point now);
    // The server has ended its lease, and has deleted all its keys.
    void lose_session(std::size_t session, core::time_point now);
    // No member can be used.
    void cut_off(errc why, core::time_point now);

    core::time_point wake_at() const noexcept { return deadlines_.earliest(); }
    void wake(core::time_point now);

private:
    void take_turn(core::claim_id id, claim& c, bool is_confirmed, core::time_point now);
    void expire(core::claim_id id, core::time_point now);

    claim_table& claims_;
    session_keeper& sessions_;
    members& members_;
    claim_desk& desk_;
    watches& watches_;
    const core::duration request_timeout_;
    core::claim_deadlines deadlines_;
    core::ring<core::backend_event> events_;
    std::vector<core::claim_id> turns_; // of claims that are first
};

} // namespace holdfast::etcd_store
