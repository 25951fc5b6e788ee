#pragma once

#include "core/slot_map.hpp"
#include "core/time.hpp"

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace holdfast::etcd_store {

// At most one deadline for each claim. core::timer_queue would do, but its functions are not
// exported by the shared library of the core.
class deadlines {
public:
    // Sets or moves it; `never` removes it.
    void set(core::slot_id claim, core::time_point at)
    {
        if (const auto found = of_.find(claim); found != of_.end()) {
            order_.erase({found->second, claim});
            of_.erase(found);
        }
        if (at == core::never)
            return;
        of_.emplace(claim, at);
        order_.insert({at, claim});
    }
    core::time_point earliest() const noexcept
    {
        return order_.empty() ? core::never : order_.begin()->first;
    }
    // Removes and returns a claim whose deadline is not after `now`.
    std::optional<core::slot_id> pop_due(core::time_point now)
    {
        if (earliest() > now || order_.empty())
            return std::nullopt;
        const core::slot_id claim = order_.begin()->second;
        set(claim, core::never);
        return claim;
    }

private:
    std::set<std::pair<core::time_point, core::slot_id>> order_;
    std::unordered_map<core::slot_id, core::time_point> of_;
};

} // namespace holdfast::etcd_store
