#pragma once

#include "core/time.hpp"
#include "redis/majority.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace holdfast::redis {

// What time it is at the nodes, by their own word. They are all given one instant as the least that
// a token may be; if it is beyond what each would choose by itself, they choose alike, and no node
// has to be written_back. A wrong estimate costs such a second round, and nothing else.
class fence_clock {
public:
    // `ahead`: a node whose clock is so much before that of most is not followed. `furthest`: no
    // node stores a token that is so far ahead of its clock. Precondition: ahead <= furthest.
    fence_clock(core::duration ahead, core::duration furthest) noexcept
        : ahead_(ahead),
          margin_(ahead / 4),
          furthest_(furthest)
    {}

    // A node answered at `heard` what was asked at `asked`, and its clock showed so many
    // milliseconds since the epoch in between.
    void note(std::size_t node, std::int64_t clock_ms, core::time_point asked,
        core::time_point heard) noexcept;
    void forget(std::size_t node) noexcept { offsets_[node].reset(); }

    // In milliseconds since the epoch, when a request that is sent now comes to the nodes; 0 if no
    // clock is known.
    std::int64_t floor(core::time_point now) const noexcept;

    // The last millisecond of which a majority stores tokens now, as far as the clocks are known.
    std::int64_t storable(core::time_point now) const noexcept;

private:
    struct known_clocks;
    known_clocks known() const noexcept;

    core::duration ahead_, margin_; // how much later than the last request the next may arrive
    core::duration furthest_;
    std::array<std::optional<core::duration>, max_nodes> offsets_{};
};

} // namespace holdfast::redis
