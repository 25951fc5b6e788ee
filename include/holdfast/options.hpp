#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace holdfast {

/// As `wait` or `max_hold`: no limit.
inline constexpr std::chrono::milliseconds forever = std::chrono::milliseconds::max();

/// How a lease is kept alive.
enum class renewal {
    automatic, ///< the locker renews it every third of the ttl, for as long as the `lease` lives
    manual,    ///< it is not renewed, unless the holder calls `lease::extend()`
};

/// How one resource is locked. Checked together when a `lock` is created; see `check()`.
struct lock_options {
    /// How long a grant lasts on a node unless it is renewed. After a crash, the resource is free
    /// again this long after the last renewal. 20 ms to 24 h.
    std::chrono::milliseconds ttl{10'000};

    /// How long `acquire()` waits when the resource is not free. Not negative, or `forever`.
    std::chrono::milliseconds wait{10'000};

    /// The time subtracted from each grant because clocks run at different rates. Default:
    /// ttl / 100 + 2 ms.
    std::optional<std::chrono::milliseconds> drift{};

    /// How long before the end of the lease the work under it is told to stop. Make it longer than
    /// the time that the work needs to react. Default: max(50 ms, ttl / 20).
    std::optional<std::chrono::milliseconds> guard{};

    /// With `renewal::manual` the lease ends after one ttl unless it is extended.
    holdfast::renewal renewal = holdfast::renewal::automatic;

    /// The lease ends this long after it was acquired, renewed or not. Longer than `guard`, or
    /// `forever`.
    std::chrono::milliseconds max_hold = forever;

    /// How often a lease may be transferred from one waiter of a locker to the next, without
    /// requests to the nodes, before other processes get their turn. 0: others get a turn after
    /// every release. While the nodes report that no other process waits in their queue, the count
    /// starts again; while they are being asked, it may be exceeded.
    std::size_t handoff_limit = 64;

    /// The same limit as a time since the nodes granted the lease; the limit that is reached first
    /// applies. This time is not prolonged when no other process is known to wait, so clients that
    /// do not use the queue get their turn. After a transfer, at least the ttl less this time and
    /// less the drift is left of the lease. Default: ttl / 4.
    std::optional<std::chrono::milliseconds> handoff_time{};

    /// How long the resource is left to polling clients now and then, while it changes hands
    /// without a pause among the waiters of this locker or among the processes in the backend's
    /// queue. Polling clients have no place in that queue (other Redlock clients, or a locker whose
    /// node user lacks the rights for the queue), and would hardly ever find the resource free.
    /// With this option they find it free for this long, about once in a period of 2 x
    /// `handoff_time`, but of at least 25 windows (5 s by default). They should poll more often
    /// than the window is long. Waiters in the locker and in the queue lose at most 1/25 of the
    /// time, and nothing where the resource has pauses. The next process that releases opens the
    /// window, and the others keep out of it. 0: no windows. At most 2 s. Without effect with
    /// fencing where the backend has a queue: no other clients share its keys.
    std::chrono::milliseconds polling_window{200};
};

/// Throws `std::invalid_argument`, naming the setting, its value and its range, unless each setting
/// is in range and they fit together: the ttl must be longer than drift, guard and, with automatic
/// renewal, the time to the first renewal together.
void check(const lock_options& options);

/// Options of a locker as a whole. Checked by the constructor of `locker`.
struct locker_options {
    /// Pauses for a backend without a queue between processes, and after a turn in the queue that
    /// led to no grant. The first pause after a refusal is random, up to this long. Later ones may
    /// be up to twice, four times … as long, up to `retry_max`. 1 ms to 1 h, and not above
    /// `retry_max`. If the refused attempt itself took longer, because a node is slow, its duration
    /// replaces `retry_min`, and eight times its duration replaces `retry_max`.
    std::chrono::milliseconds retry_min{8};
    std::chrono::milliseconds retry_max{128};

    /// How many `acquire()` calls may wait at once; one more fails with `errc::overloaded`. At
    /// least 1. A waiter costs some hundred bytes, and nothing on the nodes until an attempt is
    /// made for it.
    std::size_t max_waiting = 1'000'000;
};

/// As for `lock_options`.
void check(const locker_options& options);

} // namespace holdfast
