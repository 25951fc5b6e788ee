#pragma once

#include "core/slot_map.hpp"
#include "core/time.hpp"

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace holdfast::core {

// At most one deadline for each claim of a store. timer_queue would do, but its functions are not
// exported by the shared library of the core.
class claim_deadlines {
public:
    // Sets or moves it; `never` removes it.
    void set(slot_id claim, time_point at)
    {
        if (const auto found = of_.find(claim); found != of_.end()) {
            order_.erase({found->second, claim});
            of_.erase(found);
        }
        if (at == never)
            return;
        of_.emplace(claim, at);
        order_.insert({at, claim});
    }
    time_point earliest() const noexcept { return order_.empty() ? never : order_.begin()->first; }
    // Removes and returns a claim whose deadline is not after `now`.
    std::optional<slot_id> pop_due(time_point now)
    {
        if (earliest() > now || order_.empty())
            return std::nullopt;
        const slot_id claim = order_.begin()->second;
        set(claim, never);
        return claim;
    }

private:
    std::set<std::pair<time_point, slot_id>> order_;
    std::unordered_map<slot_id, time_point> of_;
};

} // namespace holdfast::core
