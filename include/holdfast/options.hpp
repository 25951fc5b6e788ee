#pragma once

#include <holdfast/detail/export.hpp>
#include <holdfast/events.hpp>
#include <holdfast/tracing.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
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

    /// The time subtracted from each grant because clocks run at different rates. 0 to `ttl`.
    /// Default: ttl / 100 + 2 ms.
    std::optional<std::chrono::milliseconds> drift{};

    /// How long before the end of the lease the work under it is told to stop. Make it longer than
    /// the time that the work needs to react. 0 to `ttl`. Default: max(50 ms, ttl / 20).
    std::optional<std::chrono::milliseconds> guard{};

    /// With `renewal::manual` the lease ends after one ttl unless it is extended.
    holdfast::renewal renewal = holdfast::renewal::automatic;

    /// The lease ends this long after it was acquired, renewed or not. Longer than `guard`, or
    /// `forever`.
    std::chrono::milliseconds max_hold = forever;

    /// The resource stays locked at least this long, counted from when the store was asked for the
    /// lease: for work that is to be done once a period, by whichever process comes first. A lease
    /// that is released or lost earlier ends at once for its holder (`release_outcome::released`),
    /// and is not renewed any more. Its key stays until this time is over, for all waiters, those
    /// of this locker included. If the process ends or crashes before, or closes its locker, the
    /// key ends with its ttl. A holder that needs longer keeps the lease as usual.
    /// `locker::force_release()` ends this time as well. Leases under this option are not
    /// transferred within the process. At most `ttl` and `max_hold`. 0: off. Not for a `semaphore`,
    /// a `read_write_lock` or a `multi_lock`, which give back what they do not need.
    /// docs/recipes.md says what differences between clocks do.
    std::chrono::milliseconds min_hold{0};

    /// How often a lease may be transferred from one waiter of a locker to the next, without
    /// requests to the nodes, before other processes get their turn. 0: others get a turn after
    /// every release. While the nodes report that no other process waits in their queue, the count
    /// starts again; while they are being asked, it may be exceeded.
    std::size_t handoff_limit = 64;

    /// The same limit as a time since the nodes granted the lease; the limit that is reached first
    /// applies. It applies also if no other process is known to wait, so that clients without the
    /// queue get their turn. Time in which the lease lingers does not count where other processes
    /// that wait are noticed. What is left of the lease after a transfer: under
    /// `renewal::automatic` at least two thirds of the ttl less the drift; under `renewal::manual`
    /// at least what the store last granted or confirmed, less this time. 0 to 24 h. Default:
    /// ttl / 4.
    std::optional<std::chrono::milliseconds> handoff_time{};

    /// How long the locker keeps the lease after a release, if no other waiter of the locker wants
    /// it: it lingers. The next acquire within this time gets it at once, without a request to the
    /// store, as a lease of its own, with a larger fencing token if there are tokens. For resources
    /// that one process locks again and again. 0: off. At most 24 h. Not with `min_hold`, nor for
    /// a `semaphore` or a `read_write_lock`, which need to see what is free, nor for a
    /// `multi_lock`, which gives back members for others to have them.
    ///
    /// `lease::release()` then completes at once with `release_outcome::released`: the lease has
    /// ended for its holder, and was held until then; its key stays with the locker. The locker
    /// renews it under `renewal::automatic`, and not under `renewal::manual`. If it is lost
    /// meanwhile, nothing is reported: the next acquire asks the store as usual. It is given back
    /// when the time is over, and at once by `drain()` and `close()`; after a crash it ends with
    /// its ttl. A lease of which less than `guard` is left is not given to another acquire.
    ///
    /// Another process that waits in the store's queue is noticed at once, and the resource is
    /// handed to it as in a release: the store tells it; in MariaDB the locker looks every 20 ms.
    /// If such a notice is lost, the locker notices at its next renewal, a third of the ttl later
    /// at most; if the other process reaches only some Redlock nodes, within as many renewals as
    /// there are nodes, if these answer, or some seconds later. Under `renewal::manual`, the lease
    /// ends one ttl later at most. Clients without a place in the queue wait until the time is
    /// over: other Redlock clients, lockers whose node user lacks the rights for the queue, lockers
    /// of `memory()`. `try_acquire()` in another process does not wait, so it finds the resource
    /// held. While the lease is used again and again, the acquires in a row count as transfers
    /// where waiters are not noticed: `handoff_limit` and `handoff_time` end them. Where waiters
    /// are noticed, an acquire ends them once in a period of `polling_window`, or in this time if
    /// it is longer, and waits for the window; a single attempt, or a wait of two windows or less,
    /// ends none. With a `handoff_limit` of 0 nothing lingers.
    ///
    /// A lease is given only to an acquire with the same `ttl`, `drift` and `guard`; before another
    /// one, it is released first. The `linger` that counts is that of the lease that was released;
    /// a lease that the store has granted to a lock without it does not linger.
    std::chrono::milliseconds linger{0};

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

    /// How many `acquire()` calls may wait for this resource at once in the locker; one more fails
    /// at once with `errc::overloaded`. The call that asks the nodes counts as well; a holder does
    /// not. At least 1. Each call is judged by the options of its own `lock`. The limit does not
    /// refuse `try_acquire()`, and `acquire()` with a `wait` of 0: they never wait behind others.
    /// `locker_options::max_waiting` limits all resources together.
    std::size_t max_waiters = std::numeric_limits<std::size_t>::max();

    /// Whether `acquire()` fails while the nodes cannot be reached, instead of waiting for them: at
    /// once, with `errc::unreachable`, or with the error that a person must correct, if that is
    /// why. Waiting calls end then, too, even those behind a local holder. The nodes count as out
    /// of reach when so few are connected that a majority is impossible, and the last try to
    /// connect to each of the others has failed. So the first connect is waited for, and the first
    /// reconnect to a node that was connected. Calls succeed again as soon as a majority is
    /// connected. A node that is connected but silent does not count as out of reach before
    /// `redlock_options::silence_timeout` and a failed reconnect. Without effect on
    /// `try_acquire()`, and with `memory()`.
    bool fail_fast = false;
};

/// Throws `std::invalid_argument`, naming the setting, its value and its range, unless each setting
/// is in range and they fit together: the ttl must be longer than drift, guard and, with automatic
/// renewal, the time to the first renewal together.
HOLDFAST_EXPORT void check(const lock_options& options);

/// Options of a locker as a whole. Checked by the constructor of `locker`.
struct locker_options {
    /// Pauses for a backend without a queue between processes, and after a turn in the queue that
    /// led to no grant. The first pause after a refusal is random, up to this long. Later ones may
    /// be up to twice, four times … as long, up to `retry_max`. 1 ms to 1 h, and not above
    /// `retry_max`. If the refused attempt itself took longer, because a node is slow, its duration
    /// replaces `retry_min`, and eight times its duration replaces `retry_max`.
    std::chrono::milliseconds retry_min{8};
    /// As above.
    std::chrono::milliseconds retry_max{128};

    /// How many `acquire()` calls may wait at once; one more fails with `errc::overloaded`. At
    /// least 1. A waiter costs some hundred bytes, and nothing on the nodes until an attempt is
    /// made for it.
    std::size_t max_waiting = 1'000'000;

    /// Is called for each event of at least `event_level`, for example to log it (`describe()`).
    /// Empty: no events, at no cost.
    ///
    /// It runs on the locker's executor, without a lock, never inside a call of the user, and in
    /// the order of the events, one call at a time. It may use the locker, and destroy it. If it
    /// blocks, it delays nothing else while the executor has another free thread. An exception from
    /// it propagates out of the `run()` that called it; the next events are delivered all the same.
    ///
    /// If 4,096 events wait, `acquired`, `released` and `wait_failed` are dropped; the other kinds
    /// if 8,192 wait (`locker_stats::events_dropped`). So many may wait although the callback is
    /// quick: `close()` ends all waiting acquires at once.
    ///
    /// Calls may come after the completion of `close()`, but not after the destruction of the
    /// execution context. The locker's copy of the function is destroyed with the context, or
    /// earlier with the locker and all its operations and leases.
    std::function<void(const event&)> on_event{};
    /// The least level of the events that are built and delivered.
    holdfast::event_level event_level = holdfast::event_level::info;

    /// Makes spans of acquires and holds; see `tracer`. Null: none, at no cost.
    std::shared_ptr<holdfast::tracer> tracer{};
};

/// As for `lock_options`.
HOLDFAST_EXPORT void check(const locker_options& options);

} // namespace holdfast
