#pragma once

#include "verification/recipes/process.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

namespace holdfast::store_simulation {

using recipe_simulation::process;
using recipe_simulation::world;

// Knows which process believes that it holds what, in true time. A process believes it until it
// gives the lease up, or learns of its loss, or the lease ends by the clock of the process; also
// while it is paused.
class referee {
public:
    struct belief {
        const process* owner = nullptr;
        core::time_point until{}; // in true time
        std::uint64_t token = 0;  // the first one
    };
    using place = std::list<belief>::iterator;

    explicit referee(world& w) : world_(w) {}

    place granted(
        const std::string& resource, const process& to, std::uint64_t token, core::time_point until)
    {
        entry& e = all_[resource];
        for (const belief& each : e.beliefs) {
            if (!each.owner->crashed() && each.until > world_.now())
                world_.violation("two processes hold " + resource + " at the same time");
        }
        if (token <= e.last_token)
            world_.violation("a token of " + resource + " is not larger than the last one");
        e.last_token = token;
        ++holds_;
        e.beliefs.push_back({&to, until, token});
        return std::prev(e.beliefs.end());
    }
    // The lease has a new holder in its process.
    void passed(const std::string& resource, std::uint64_t token)
    {
        if (token <= all_[resource].last_token)
            world_.violation("a holder of " + resource + " has no larger token than the last one");
        all_[resource].last_token = token;
    }
    void over(const std::string& resource, place p) { all_[resource].beliefs.erase(p); }
    std::size_t holds() const noexcept { return holds_; }
    // Calls this with the resource and the first token of each lease that is believed in now.
    template <class Function>
    void each_belief(Function what) const
    {
        for (const auto& [resource, e] : all_) {
            for (const belief& each : e.beliefs) {
                if (!each.owner->crashed() && each.until > world_.now())
                    what(resource, each.token);
            }
        }
    }

private:
    struct entry {
        std::list<belief> beliefs;
        std::uint64_t last_token = 0;
    };

    world& world_;
    std::map<std::string, entry> all_;
    std::size_t holds_ = 0;
};

} // namespace holdfast::store_simulation
