#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace holdfast::simulation {

using nanoseconds = std::chrono::nanoseconds;

// Many who want a lock each, of names of their own, sooner than nodes and processes can serve them.
struct burst_plan {
    std::size_t flooded = 1;  // processes, the first ones
    std::size_t attempts = 0; // of each of them
    nanoseconds spread{0};    // they begin within so long; 0: all at once
    nanoseconds hold{0};      // at the most
    nanoseconds wait{0};      // each waits for so long
    std::size_t kept = 0;     // leases of each process that are held all the time beside them

    std::optional<std::size_t> frozen_node{}; // stands still
    nanoseconds frozen_from{0}, frozen_for{0};

    nanoseconds work{0}; // of the busiest thread, for everything, if nothing is done in vain

    // What it may take until all that wait for so long have their locks. A lock may come late
    // because a node or a process has other work, not because work is done in vain: then it takes
    // many times as long, or for ever.
    nanoseconds bound() const noexcept
    {
        return std::max(spread, work * times_the_work) + frozen_for + to_settle;
    }
    // How many must have been granted, of so many.
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
