#pragma once

#include "core/backend.hpp"
#include "core/lease_keeper.hpp"
#include "core/params.hpp"
#include "core/time.hpp"

#include <cstddef>

namespace holdfast::core {

// Keeps account of the holders of this process that follow one another at one resource, and so
// keep other processes out. The terms of the next local wait limit their number and their time.
// After that, others are due a turn.
//
// Clients that poll are due a window now and then, in which the resource stays free.
class local_turns {
public:
    // The backend has granted the resource to this process.
    void granted(time_point now) noexcept;
    // An attempt of this process was refused. `contended`: others get the resource.
    void refused(bool contended) noexcept;
    // The lease was lost. Another client may hold the resource.
    void lost(time_point now) noexcept { closed_since_ = now; }
    // A holder gives way to the next local wait.
    void pass() noexcept { ++passed_; }
    // For so long the lease had no holder, and nobody waited.
    void skip(duration pause) noexcept { since_ += pause; }
    // Others get their turn now.
    void end() noexcept;
    // No other process waits: more local turns keep nobody waiting.
    void nobody_waits() noexcept
    {
        passed_ = 0;
        others_wait_ = false;
    }
    // Other processes wait, or did so when this one asked.
    void note_waiters() noexcept { others_wait_ = true; }
    // Whether that was noted since the last end().
    bool others_wait() const noexcept { return others_wait_; }

    bool any() const noexcept { return passed_ > 0; }
    // Whether to ask now if others wait: early enough before the turns are used up.
    bool should_probe(const lease_params& next) const noexcept
    {
        return passed_ == (next.handoff_limit + 3) / 4;
    }
    bool used_up(const lease_params& next) const noexcept { return passed_ >= next.handoff_limit; }
    // Whether the time is over, regardless of the number of turns. Precondition: granted() since
    // the last end().
    bool time_is_up(const lease_params& next, time_point now) const noexcept
    {
        return now - since_ >= next.handoff_time;
    }

    // Whether polling clients are due a window: there was no pause for a whole period.
    bool is_window_due(const polling_params& polling, time_point now) const noexcept
    {
        return polling.window_ms != 0 && closed_since_ != long_ago &&
               now - closed_since_ >= polling.period();
    }
    // Whether the local turns must end now, regardless of their number.
    bool is_over(const lease_params& next, time_point now) const noexcept
    {
        return time_is_up(next, now) || is_window_due(polling_of(next), now);
    }
    // The same for a lease that lingered, for a wait until `ends`. Polling clients must wait for as
    // long as a lease may linger anyway, so they get no more windows than that. A wait that is not
    // longer than two windows leaves none: it would fail for it.
    bool is_over_after_lingering(
        const lease_params& next, duration linger, time_point ends, time_point now) const noexcept
    {
        const polling_params polling = polling_of(next);
        const bool due = is_window_due(polling, now) && now - closed_since_ >= linger;
        return time_is_up(next, now) || (due && ends - now > 2 * polling.window());
    }
    // The window that polling clients are due now, which counts as given; or zero.
    duration take_window(const polling_params& polling, time_point now) noexcept;

private:
    std::size_t passed_ = 0;             // how many local holders have followed
    time_point since_ = long_ago;        // local holders have followed one another since then
    time_point closed_since_ = long_ago; // since then all pauses were too short to poll in
    bool others_wait_ = false;
};

} // namespace holdfast::core
