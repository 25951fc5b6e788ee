#pragma once

#include "core/time.hpp"
#include "redis/quorum/majority.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace holdfast::redis {

// The time at the nodes, as they report it. All are given the same instant as the least that a
// token may be. If it is beyond what each would choose by itself, all choose the same, and no
// write-back is needed. A wrong estimate costs such a second round, and nothing else.
class fence_clock {
public:
    // `ahead`: a node whose clock is ahead of most by more than this is not followed. `furthest`:
    // no node stores a token that is further ahead of its clock. Precondition: ahead <= furthest.
    fence_clock(core::duration ahead, core::duration furthest) noexcept
        : ahead_(ahead),
          margin_(ahead / 4),
          furthest_(furthest)
    {}

    // A node answered at `heard` a request that was sent at `asked`; in between its clock showed
    // `clock_ms` milliseconds since the epoch. True if the clock was set since it was last noted,
    // by more than `ahead`.
    bool note(std::size_t node, std::int64_t clock_ms, core::time_point asked,
        core::time_point heard) noexcept;
    void forget(std::size_t node) noexcept { offsets_[node].reset(); }

    // The time at the nodes when a request that is sent now arrives, in milliseconds since the
    // epoch; 0 if no clock is known.
    std::int64_t floor(core::time_point now) const noexcept;

    // The last millisecond whose tokens a majority stores now, as far as the clocks are known.
    std::int64_t storable(core::time_point now) const noexcept;

private:
    struct known_clocks;
    known_clocks known() const noexcept;

    core::duration ahead_, margin_; // the next request may arrive so much later than the last
    core::duration furthest_;
    std::array<std::optional<core::duration>, max_nodes> offsets_{};
};

} // namespace holdfast::redis
