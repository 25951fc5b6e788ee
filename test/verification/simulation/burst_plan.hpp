#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace holdfast::simulation {

using nanoseconds = std::chrono::nanoseconds;

// Many users want one lock each, on different names, faster than nodes and processes can serve.
struct burst_plan {
    std::size_t flooded = 1;  // number of processes with attempts: the first ones
    std::size_t attempts = 0; // in each of them
    nanoseconds spread{0};    // the attempts begin within this time; 0: all at once
    nanoseconds hold{0};      // at most
    nanoseconds wait{0};      // of each attempt
    std::size_t kept = 0;     // leases in each process that are held throughout the burst

    std::optional<std::size_t> frozen_node{};
    nanoseconds frozen_from{0}, frozen_for{0};

    nanoseconds work{0}; // of the busiest thread for all attempts, if no work is wasted

    // The time limit until all attempts that wait this long are granted. A grant may be late
    // because a node or a process has other work to do, but not because work is wasted: then a
    // burst takes many times as long, or never ends.
    nanoseconds bound() const noexcept
    {
        return std::max(spread, work * times_the_work) + frozen_for + to_settle;
    }
    // How many of this number must have been granted.
    std::size_t least_granted(std::size_t of) const noexcept
    {
        if (wait >= bound())
            return of;
        const nanoseconds used = std::max(spread + wait - frozen_for - to_settle, nanoseconds(0));
        return std::min(of,
            static_cast<std::size_t>(static_cast<double>(of) * static_cast<double>(used.count()) /
                                     static_cast<double>((work * times_the_work).count())));
    }

private:
    static constexpr int times_the_work = 3;
    static constexpr nanoseconds to_settle = std::chrono::seconds(1); // to find the right pace
};

} // namespace holdfast::simulation
