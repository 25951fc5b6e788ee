#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace holdfast {

/// As `wait` or `max_hold`: without limit.
inline constexpr std::chrono::milliseconds forever = std::chrono::milliseconds::max();

/// Who keeps a lease alive.
enum class renewal {
    automatic, ///< the locker, every third of the ttl, for as long as the `lease` lives
    manual,    ///< nobody, unless the holder calls `lease::extend()`
};

/// How one resource is locked. Checked together when a `lock` is made; see `check()`.
struct lock_options {
    /// How long a grant lasts on a node unless it is renewed: after a crash, the resource is free
    /// again this long after the last renewal. 20 ms to 24 h.
    std::chrono::milliseconds ttl{10'000};

    /// How long `acquire()` waits when the resource is not free. Not negative, or `forever`.
    std::chrono::milliseconds wait{10'000};

    /// What is taken off each grant because clocks do not run alike. Default: ttl / 100 + 2 ms.
    std::optional<std::chrono::milliseconds> drift{};

    /// How long before the end of the lease the work under it is told to stop. Choose it longer
    /// than that work needs to react. Default: max(50 ms, ttl / 20).
    std::optional<std::chrono::milliseconds> guard{};

    /// With `renewal::manual` the lease ends after one ttl unless it is extended.
    holdfast::renewal renewal = holdfast::renewal::automatic;

    /// The lease ends this long after it was acquired, renewed or not. Longer than
    /// `guard`, or `forever`.
    std::chrono::milliseconds max_hold = forever;

    /// How often a lease may go from one waiter of a locker to the next, without a word to the
    /// nodes, before other processes get their turn. 0: others get a turn after every release.
    /// While the nodes say that no other process waits in their queue, the count begins anew; while
    /// they are being asked, it may be exceeded.
    std::size_t handoff_limit = 64;

    /// The same as a time since the nodes granted it, whichever comes first; that no other process
    /// is known to wait does not prolong it, so clients that do not use the queue get their turn.
    /// A lease that was handed over has at least the ttl less this, and less the drift, left.
    /// Default: ttl / 4.
    std::optional<std::chrono::milliseconds> handoff_time{};

    /// How long the resource is left to clients that poll, now and then, while it is handed over
    /// without a pause among the waiters of this locker, or among the processes that wait in the
    /// backend's queue. A client that polls has no place there (other Redlock clients, a locker of
    /// a node user without the rights for the queue) and would next to never find the resource
    /// free. With this it does for this long, about once in a period of 2 x `handoff_time`, but not
    /// below 25 windows (5 s by default); so let it poll more often than the window is long. For
    /// those who wait in the locker or in the queue that takes 1/25 of the time at most, and
    /// nothing where the resource has pauses. Whichever process releases next opens the window,
    /// and the others keep out of it. 0: no windows. At most 2 s. Of no effect with fencing where
    /// the backend keeps a queue: no other clients share its keys.
    std::chrono::milliseconds polling_window{200};
};

/// Throws `std::invalid_argument`, naming the setting, its value and its range, unless the settings
/// are in range one by one and fit each other: a lease must be able to outlive its drift, its guard
/// and, with automatic renewal, the time to the first renewal.
void check(const lock_options& options);

/// What holds for a locker as a whole. Checked by the constructor of `locker`.
struct locker_options {
    /// For a backend that keeps no queue between processes, and when a turn in it came to nothing.
    /// The first pause after a refusal is random, up to this long. Later ones may be up to twice,
    /// four times … as long, up to `retry_max`. 1 ms to 1 h, and not above `retry_max`. When the
    /// refused attempt itself took longer, because a node is slow, the time it took takes the place
    /// of `retry_min`, and eight times as much that of `retry_max`.
    std::chrono::milliseconds retry_min{8};
    std::chrono::milliseconds retry_max{128};

    /// How many `acquire()` may wait at once; one more fails with `errc::overloaded`. At least 1. A
    /// waiter costs some hundred bytes, and nothing on the nodes until it is asked for.
    std::size_t max_waiting = 1'000'000;
};

/// As for `lock_options`.
void check(const locker_options& options);

} // namespace holdfast
