#pragma once

#include "verification/recipes/lock_service.hpp"

#include <cstddef>
#include <deque>

namespace holdfast::recipe_simulation {

// A world with some processes and a store of locks. Faults happen until it becomes quiet.
class environment {
public:
    static constexpr duration length = 60s; // with faults
    static constexpr duration quiet = 150s; // without, so that all who wait have their turn

    environment(std::uint64_t seed, std::size_t processes)
        : w(seed),
          locks(w, w.random.of_any_size(500ms, 10s))
    {
        for (std::size_t i = 0; i < processes; ++i)
            all.emplace_back(w, static_cast<int>(i), 0.995 + 0.01 * w.random.fraction());
        if (w.random.chance(0.2))
            return; // a world without faults
        locks.trouble.lost_reply = 0.05 * w.random.fraction();
        locks.trouble.lost_release = 0.05 * w.random.fraction();
        locks.trouble.end_of_lease = 0.2 * w.random.fraction();
        trouble_later();
    }

    // Faults end, but what they have caused remains.
    void become_quiet() { locks.trouble = {}; }
    bool is_quiet() const noexcept { return w.now() >= time_point(length); }

    world w;
    lock_service locks;
    std::deque<process> all;

private:
    void trouble_later()
    {
        w.after(w.random.of_any_size(100ms, 20s), [this] {
            if (is_quiet())
                return;
            process& unlucky = all[w.random.below(all.size())];
            if (w.random.chance(0.1))
                unlucky.crash();
            else
                unlucky.pause_for(w.random.of_any_size(1ms, 2 * locks.ttl));
            trouble_later();
        });
    }
};

} // namespace holdfast::recipe_simulation
