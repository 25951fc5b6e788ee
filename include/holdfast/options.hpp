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
