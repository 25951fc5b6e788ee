#pragma once

#include "core/time.hpp"
#include "io/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace holdfast::io {

// Counts how often the machine was suspended: then the clock of leases has gone on without the
// steady clock. The thread may be interrupted between its readings of the two, which looks the
// same, but not at the next look.
class suspension_watch {
public:
    static constexpr core::duration shortest = std::chrono::milliseconds(100);

    void look(const clocks& now) noexcept
    {
        const core::duration apart =
            now.lease.time_since_epoch() - core::duration(now.steady.time_since_epoch());
        const bool more = known_ && apart - *known_ > shortest;
        if (more && suspected_)
            ++count_;
        if (!more || suspected_)
            known_ = more ? apart : std::min(apart, known_.value_or(apart));
        suspected_ = more && !suspected_;
    }

    std::uint64_t count() const noexcept { return count_; }

private:
    std::optional<core::duration> known_; // how far the clocks are apart
    bool suspected_ = false;
    std::uint64_t count_ = 0;
};

} // namespace holdfast::io
