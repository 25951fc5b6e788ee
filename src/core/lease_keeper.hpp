#pragma once

#include "core/time.hpp"
#include "core/validity.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace holdfast::core {

// The part of `lock_options` that concerns one lease, with all defaults filled in.
struct lease_params {
    duration ttl{};
    duration drift{};
    duration guard{};
    std::chrono::milliseconds max_hold{};
    duration handoff_time{};
    std::size_t handoff_limit = 0;
    std::uint32_t min_hold_ms = 0, linger_ms = 0;
    std::uint16_t polling_window_ms = 0;
    bool renews = true;
    bool fails_fast = false;
    std::size_t max_waiters = std::numeric_limits<std::size_t>::max();
};

// Decides what to do with one lease, and when: renew it, tell its work to stop, declare it ended.
//
// `kept` → `stopping`, a guard time before the end → `ended`. There is no way back: once the work
// was told to stop, no late answer makes the lease good again. An unanswered renewal neither
// extends nor ends a lease; only the clock ends it.
//
// Source: the watchdog of userver's dist_lock (the lease is counted from before the request; the
// work stops a margin before its end).
class lease_keeper {
public:
    enum class phase : std::uint8_t { kept, stopping, ended };
    enum class action : std::uint8_t { none, renew, stop_work, end };

    lease_keeper() = default;

    // `since`: when this holder got the lease. `patience`: how long the answers to a renewal may
    // take.
    lease_keeper(const lease_params& terms, const validity& granted, time_point since,
        duration patience) noexcept;

    // What to do now. Call again until it returns `none`. On `renew`, the caller sends a renewal.
    action due(time_point now) noexcept;

    // When to call `due()` next.
    time_point wake_at() const noexcept;

    void renewal_sent(time_point now) noexcept;
    // The backend reports a new validity. True if this confirms a renewal. The end is not extended
    // any more once the time to stop has come, even if `due()` has not reported it yet.
    bool changed(const validity& to, time_point now) noexcept;
    // Ends the lease at once.
    void end() noexcept { phase_ = phase::ended; }
    // The work must stop now. The lease ends `grace` from now at the latest.
    void stop(time_point now, duration grace) noexcept;

    phase where() const noexcept { return phase_; }
    bool held(time_point now) const noexcept { return phase_ != phase::ended && now < ends_at(); }
    // What the backend has granted. This holder's lease may end earlier.
    const validity& granted() const noexcept { return valid_; }
    time_point ends_at() const noexcept { return std::min(valid_.until, limit_); }
    // Whether a renewal that was sent at `sent` has been confirmed.
    bool covers(time_point sent) const noexcept { return valid_.asked >= sent; }

private:
    time_point next_renewal() const noexcept;

    validity valid_{};
    duration guard_{}, retry_{};
    time_point confirmed_{}, limit_{}, renew_at_{};
    bool renews_ = false;
    phase phase_ = phase::ended;
};

} // namespace holdfast::core
