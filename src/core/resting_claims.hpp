#pragma once

#include "core/claim.hpp"
#include "core/slot_map.hpp"
#include "core/time.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace holdfast::core {

// Claims whose leases have ended before `min_hold` was over. Each stays at the backend until then,
// and keeps all waiters out, those of this locker included.
class resting_claims {
public:
    struct rest {
        claim_id claim = 0;
        slot_id queue = 0; // of the resource
        slot_id lease = 0; // the tag of the claim's events
        time_point valid_until = long_ago;
    };

    void add(const rest& claim, time_point until) { all_.emplace(until, claim); }

    time_point wake_at() const noexcept { return all_.empty() ? never : all_.begin()->first; }

    // The claim of this lease, if it rests and its keys were lost before their time; it rests no
    // more. Without renewals each claim is lost in the end, a drift before its keys expire: until
    // then the resource still rests.
    std::optional<rest> take_lost(slot_id lease, time_point now)
    {
        const auto found = std::find_if(all_.begin(), all_.end(),
            [lease](const auto& each) { return each.second.lease == lease; });
        if (found == all_.end() || found->second.valid_until <= now)
            return {};
        const rest taken = found->second;
        all_.erase(found);
        return taken;
    }

    // One whose time is over; it rests no more.
    std::optional<rest> take_due(time_point now)
    {
        if (all_.empty() || wake_at() > now)
            return {};
        const rest first = all_.begin()->second;
        all_.erase(all_.begin());
        return first;
    }

private:
    std::multimap<time_point, rest> all_;
};

} // namespace holdfast::core
