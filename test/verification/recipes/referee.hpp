#pragma once

#include "verification/recipes/lock_service.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <list>

namespace holdfast::recipe_simulation {

// Knows who acts under which lease, in true time. A user acts until it has stopped, or until its
// process has crashed, or until its lease has ended by its clock: a paused user may believe in its
// lease until then.
class referee {
public:
    enum class role : std::uint8_t { exclusive, shared };
    struct hold {
        lease_pointer lease;
        role as;
    };
    using place = std::list<hold>::iterator;

    explicit referee(const world& w) : world_(w) {}

    place begins(const lease_pointer& lease, role as)
    {
        holds_.push_back({lease, as});
        ++begun_;
        return std::prev(holds_.end());
    }
    void ends(place p) { holds_.erase(p); }

    std::size_t acting(role as) const
    {
        return static_cast<std::size_t>(
            std::count_if(holds_.begin(), holds_.end(), [&](const hold& each) {
                return each.as == as && !each.lease->owner.crashed() &&
                       each.lease->believed_until() > world_.now();
            }));
    }
    std::size_t begun() const noexcept { return begun_; } // holds, in all

private:
    const world& world_;
    std::list<hold> holds_;
    std::size_t begun_ = 0;
};

} // namespace holdfast::recipe_simulation
