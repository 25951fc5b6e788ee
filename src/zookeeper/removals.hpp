#pragma once

#include "zookeeper/claim_table.hpp"
#include "zookeeper/requester.hpp"

#include <cstddef>
#include <deque>
#include <utility>

namespace holdfast::zookeeper_store {

// Deletes the nodes of claims that leave, so many at a time: heartbeats and new requests do not
// wait behind more of them.
class removals {
public:
    static constexpr std::size_t most_under_way = 1000;

    // Both outlive it.
    removals(claim_table& claims, requester& out) noexcept : claims_(claims), out_(out) {}

    // If no server can be asked, it has to be asked again.
    void ask(core::claim_id id, claim& c, core::time_point now)
    {
        if (!out_.can_send())
            return;
        if (out_.count(request::kind::leave) >= most_under_way) {
            if (!std::exchange(c.removal_waits, true))
                waiting_.push_back(id);
            return;
        }
        c.removal_waits = false;
        ++c.removals;
        out_.send(request::kind::leave, id,
            {.what = wire::operation::remove, .path = c.place.path()}, now);
    }
    // An answer has come.
    void answered(core::time_point now)
    {
        while (!waiting_.empty() && out_.count(request::kind::leave) < most_under_way) {
            const core::claim_id id = waiting_.front();
            waiting_.pop_front();
            claim* const c = claims_.find(id);
            if (c != nullptr && c->removal_waits)
                ask(id, *c, now);
        }
    }
    void disconnected()
    {
        for (const core::claim_id id : waiting_) {
            if (claim* const c = claims_.find(id))
                c->removal_waits = false;
        }
        waiting_.clear();
    }

private:
    claim_table& claims_;
    requester& out_;
    std::deque<core::claim_id> waiting_;
};

} // namespace holdfast::zookeeper_store
