#pragma once

#include "core/time.hpp"
#include "redis/quorum/majority.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace holdfast::redis {

// The time at the nodes, as they report it. Clients that estimate it alike choose ballots that grow
// with time. A wrong estimate costs a second round, and nothing else.
//
// Source: the clock filter of NTP (RFC 5905, section 10): of several samples, the one with the
// shortest round trip is nearest to the truth.
class fence_clock {
public:
    // `ahead`: the largest error that is permitted. A clock that is found to differ by more than
    // this from its last sample was set.
    explicit fence_clock(core::duration ahead) noexcept : ahead_(ahead) {}

    // A node answered at `heard` a request that was sent at `asked`; in between its clock showed
    // `clock_us` microseconds since the epoch. Ignored if half of the round trip is more than
    // `ahead`. True if the clock was set since it was last noted.
    bool note(std::size_t node, std::int64_t clock_us, core::time_point asked,
        core::time_point heard) noexcept;
    void forget(std::size_t node) noexcept;

    bool knows(std::size_t node) const noexcept { return samples_[node].has_value(); }
    bool is_known() const noexcept { return known_; } // of any node
    // A majority of the known clocks is not behind this. Precondition: is_known().
    std::int64_t ms(core::time_point now) const noexcept;
    // The same in eighths of a millisecond, as a ballot.
    std::uint64_t ballot(core::time_point now) const noexcept;

private:
    struct sample {
        core::duration offset{}, error{};
        core::time_point heard{};
    };
    void estimate() noexcept;

    core::duration ahead_;
    std::array<std::optional<sample>, max_nodes> samples_{};
    core::time_point latest_{}; // when the latest of them was heard
    core::duration offset_{};   // from our clock to that of the nodes
    bool known_ = false;
};

} // namespace holdfast::redis
