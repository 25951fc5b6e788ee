#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace holdfast::core {

// What of `lock_options` concerns one lease, with all defaults filled in.
struct lease_params {
    duration ttl{};
    duration drift{};
    duration guard{};
    std::chrono::milliseconds max_hold{};
    duration handoff_time{};
    std::size_t handoff_limit = 0;
    std::uint32_t polling_window_ms = 0;
    bool renews = true;
};

// Decides what becomes of one lease, and when: renew it, tell its work to stop, declare it ended.
//
// `kept` → `stopping`, a guard time before the end → `ended`. There is no way back: once its work
// was told to stop, no late answer makes the lease good again. An unanswered renewal neither
// lengthens nor ends a lease; the clock does.
//
// Source: the watchdog of userver's dist_lock (the lease is counted from before the request; the
// work stops a margin before its end).
class lease_keeper {
public:
    enum class phase : std::uint8_t { kept, stopping, ended };
    enum class action : std::uint8_t { none, renew, stop_work, end };

    lease_keeper() = default;

    // `asked`: just before the request left. `patience`: how long a renewal's answers may take.
    lease_keeper(const lease_params& terms, time_point asked, time_point granted,
        time_point valid_until, duration patience) noexcept;

    // What to do now. Call again until it answers `none`. Whoever gets `renew` sends one.
    action due(time_point now) noexcept;

    // When to call `due()` next.
    time_point wake_at() const noexcept;

    void renewal_sent(time_point now) noexcept;
    // The backend's view of the validity has changed. True if this confirms a renewal. Once the
    // time to stop has come, even if nobody has noticed yet, the end does not move on any more.
    bool valid_until(time_point when, time_point now) noexcept;
    // It is over, at once.
    void end() noexcept { phase_ = phase::ended; }
    // The work must stop now, and has `grace` to do it, if the lease lasts that long.
    void stop(time_point now, duration grace) noexcept;

    phase where() const noexcept { return phase_; }
    bool held(time_point now) const noexcept { return phase_ != phase::ended && now < ends_at(); }
    // What the backend has granted, whatever this holder may use of it.
    time_point granted_until() const noexcept { return valid_until_; }
    time_point ends_at() const noexcept { return valid_until_ < limit_ ? valid_until_ : limit_; }
    // Whether a renewal that was sent at `sent` has been confirmed.
    bool covers(time_point sent) const noexcept { return valid_until_ >= sent + ttl_ - drift_; }

private:
    time_point next_renewal(time_point asked) const noexcept;

    duration ttl_{}, drift_{}, guard_{}, retry_{};
    time_point confirmed_{}, valid_until_{}, limit_{}, renew_at_{};
    bool renews_ = false;
    phase phase_ = phase::ended;
};

} // namespace holdfast::core
