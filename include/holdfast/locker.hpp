#pragma once

#include <holdfast/backend.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/detail/handler.hpp>
#include <holdfast/error.hpp>
#include <holdfast/inspect.hpp>
#include <holdfast/options.hpp>
#include <holdfast/resource.hpp>
#include <holdfast/stats.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace holdfast {

namespace io {
class engine;
}

/// Owns the state that locks share: the connections to the nodes, the queues of local waiters, the
/// renewals.
///
/// A process needs one locker for each set of nodes. Every `lock` created from it uses its
/// connections. The connections count as work: `io_context::run()` returns only after `close()` (or
/// the destructor) has done its part.
///
/// Thread safety: all members except the destructor may be called from many threads at once.
/// Lifetimes: operations and leases keep alive what they need. They may outlive the locker object;
/// its destruction closes the locker. All of them, including leases and locks, must be destroyed
/// before the execution context. A moved-from locker can only be destroyed or assigned to.
///
/// After `fork()` the locker and its leases belong to the parent. A child that continues to run the
/// execution context must call its `notify_fork(fork_child)` first, as Asio requires in any case.
/// Then nothing is sent, the child's copies of leases are lost, and its operations end, those that
/// were pending included: `acquire()` and questions with `errc::closed`, `lost()` and `extend()`
/// with `errc::lease_lost`, so that `hold()`, elections and batches end their work, `release()`
/// with `release_outcome::expired`, and `drain()` and `close()` without an error.
class locker {
public:
    /// The type of `get_executor()`.
    using executor_type = asio::any_io_executor;

    /// Starts to connect in the background on `executor`, which also runs the handlers that have no
    /// associated executor. The executor may be a strand, a thread pool or an `io_context`; its
    /// context must live as long as the locker's operations.
    ///
    /// A handler that blocks delays nothing else while the executor has another free thread. On a
    /// strand, or with one thread, it delays all work of the locker. An exception from a handler
    /// propagates out of the `run()` that called it, one exception at a time. Those of coroutines
    /// that end in the same turn of an `io_context` are kept by Asio, which combines them into one
    /// `multiple_exceptions`.
    ///
    /// Throws `std::invalid_argument` if `check(options)` throws.
    [[nodiscard]] HOLDFAST_EXPORT locker(
        asio::any_io_executor executor, backend store, locker_options options = {});

    /// As `close()`, without waiting for its end: never blocks, never throws. If the executor does
    /// not run any more, keys that are still held end by their ttl.
    HOLDFAST_EXPORT ~locker();

    /// Leaves the other object moved-from.
    locker(locker&&) noexcept = default;
    /// Closes this locker as the destructor does, then as above.
    HOLDFAST_EXPORT locker& operator=(locker&& other) noexcept;

    /// The executor of the constructor.
    HOLDFAST_EXPORT executor_type get_executor() const noexcept;

    /// Lets the holders finish, for up to `deadline`: for a process that is asked to end (SIGTERM).
    ///
    /// From this call on, no lease is granted: new `acquire()` and `try_acquire()` calls, and those
    /// that wait, fail at once with `errc::closed`. Existing leases are renewed until they are
    /// released. At the deadline the remaining holders are told that they must stop
    /// (`lease::lost()`; `hold()` cancels its body), and each lease is released once its holder has
    /// dropped it or its guard time has passed, as by `close()`. A deadline of 0 or less tells them
    /// at once; `forever` never does. Not to be called in a signal handler: use `asio::signal_set`.
    ///
    /// Completion: `void(error_code)`, never inside this call. It completes without an error when
    /// nothing is held any more, so at the latest the longest guard of a held lease after the
    /// deadline. Work that blocks or ignores `lost()` may still run then, without a lease.
    ///
    /// Afterwards `close()` is still needed. It only waits for nodes to confirm deletions and
    /// closes the connections. There is no way back: a drained locker grants nothing any more.
    ///
    /// Repeated and concurrent calls are allowed: the earliest deadline applies, and all calls
    /// complete together. `close()` and the destructor end a drain: the holders are told at once,
    /// and the drain completes, without an error, when nothing is held. A drain of a locker that is
    /// being closed, or is closed, completes in the same way and changes nothing.
    ///
    /// Errors: `asio::error::operation_aborted` when this call was cancelled.
    ///
    /// Cancellation: all types; only the waiting ends, the locker goes on draining.
    template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto drain(std::chrono::milliseconds deadline, Token&& token = Token())
    {
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler, std::shared_ptr<io::engine> engine, std::chrono::milliseconds limit) {
                const auto& usual = detail::usual_executor(*engine);
                start_drain(std::move(engine), limit, close_handler(std::move(handler), usual));
            },
            token, engine_, deadline);
    }

    /// Stops the locker, in this order: refuses new operations and ends waiting ones
    /// (`errc::closed`); tells the holders of leases that they must stop (`lease::lost()`);
    /// releases each lease once its holder has dropped it or its guard time has passed; closes the
    /// connections.
    ///
    /// Completion: `void(error_code)`. Bounded by the longest guard of a held lease, plus the time
    /// that the nodes need to delete the released keys, as long as they go on answering. Half a
    /// second after the last answer of a node, the remaining keys are left to end by their ttl.
    ///
    /// Errors: `asio::error::operation_aborted` when this call was cancelled.
    ///
    /// Cancellation: all types; only the waiting ends, the closing continues. Repeated and
    /// concurrent calls are allowed and wait for the same end.
    template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto close(Token&& token = Token())
    {
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler, std::shared_ptr<io::engine> engine) {
                const auto& usual = detail::usual_executor(*engine);
                start_close(std::move(engine), close_handler(std::move(handler), usual));
            },
            token, engine_);
    }

    /// Finds out who holds a resource, for how long, and who waits for it. Reads only, and takes no
    /// part in locking. For operators, not for hot paths, and never a reason to act as the holder:
    /// the answer may be outdated when it arrives.
    ///
    /// Completion: `void(error_code, resource_report)`, in bounded time: Redis nodes that are not
    /// connected yet, or do not answer, are waited for at most 2 s, and their client records at
    /// most 2 s more; the servers of other stores at most 10 s. With an error, the report has what
    /// was found out.
    ///
    /// Errors:
    /// - `errc::unreachable`  no majority of the nodes has answered, or the store cannot be
    /// inspected.
    /// - `errc::permission_denied`  so many nodes forbid the request, or have a command of it
    /// renamed or removed, that no majority is left.
    /// - `errc::key_conflict`  so many nodes have data that is no lock (`key_state::conflict`) that
    /// no majority is left.
    /// - `errc::no_reply`, or what keeps the locker from its store, such as
    ///   `errc::authentication_failed` or `errc::tls_failed`  in stores other than Redis nodes.
    /// - `errc::closed`  the locker was closed.
    /// - `asio::error::operation_aborted`  this call was cancelled.
    ///
    /// Cancellation: all types.
    template <
        asio::completion_token_for<void(error_code, resource_report)> Token = asio::deferred_t>
    auto inspect(resource what, Token&& token = Token())
    {
        return asio::async_initiate<Token, void(error_code, resource_report)>(
            [](auto handler, std::shared_ptr<io::engine> engine, resource name) {
                const auto& usual = detail::usual_executor(*engine);
                start_inspect(
                    std::move(engine), std::move(name), inspect_handler(std::move(handler), usual));
            },
            token, engine_, std::move(what));
    }

    /// Lists the resources whose names begin with `prefix` and that have a key of a lock at some
    /// node, with their owners. An empty prefix lists all. Without fencing, only keys are listed
    /// whose value looks like an owner token of holdfast: locks of other clients are left out, and
    /// those of versions of holdfast without client records.
    ///
    /// The nodes are read with SCAN in small steps, which take at most half of a node's time. So a
    /// list of a store with many other keys takes long: about a second for a million keys. A lock
    /// that is acquired or released meanwhile may or may not be listed.
    ///
    /// Completion: `void(error_code, lock_list)`. Bounded: a Redis node that is not connected yet,
    /// or does not answer a step, is waited for at most 2 s, and so are all client records; after
    /// ten minutes, in etcd and ZooKeeper after one, the list ends as it is. It has at most 20,000
    /// locks, fewer if their names are long (8 MiB in all); others are left out.
    /// `lock_list::complete` is false in both cases: ask for a longer prefix.
    ///
    /// Errors: as for `inspect()`; users need the rights to SCAN and GETRANGE.
    ///
    /// Cancellation: all types.
    template <asio::completion_token_for<void(error_code, lock_list)> Token = asio::deferred_t>
    auto list(std::string prefix, Token&& token = Token())
    {
        return asio::async_initiate<Token, void(error_code, lock_list)>(
            [](auto handler, std::shared_ptr<io::engine> engine, std::string start) {
                const auto& usual = detail::usual_executor(*engine);
                start_list(
                    std::move(engine), std::move(start), list_handler(std::move(handler), usual));
            },
            token, engine_, std::move(prefix));
    }

    /// Takes a lock away from any holder. Each node deletes the key if it still
    /// belongs to the owner that was seen just before, so a successor is not hit; or hands it to
    /// the first in the queue. Keys without a ttl are deleted too, also those of other programs.
    /// The order of fencing tokens stays.
    ///
    /// The old holder is told by a message: its lease is lost at once (`lease::lost()`,
    /// `lock::hold()`). A holder that cannot be told (another client, RESP2, no right to the
    /// channel, a lock in MariaDB) believes in its lease until its next renewal, or until its end:
    /// **two holders may act at once then**. Stop its work first.
    ///
    /// With `memory()`, holders in other lockers notice it at their next renewal.
    ///
    /// Completion: `void(error_code, forced_release)`. Bounded as `inspect()`, and 2 s more for the
    /// deletion.
    ///
    /// Errors:
    /// - `errc::not_held`  no majority has the key of one owner. Keys without a ttl were deleted.
    /// - `errc::unreachable`  no majority has answered. If `deleted` is not 0, the lock may be gone
    ///   nevertheless. With `etcd()` and `zookeeper()`: always, because the holder would not be
    ///   told.
    /// - `errc::contended`  with `postgresql()` and `mysql()`: another transaction has kept the row
    ///   locked for 2 s, such as a guard while others wait. Nothing has changed.
    /// - `errc::permission_denied`, `errc::key_conflict`, `errc::closed`, as for `inspect()`.
    /// - `asio::error::operation_aborted`  this call was cancelled.
    ///
    /// Cancellation: terminal and partial; what was sent may take effect.
    template <asio::completion_token_for<void(error_code, forced_release)> Token = asio::deferred_t>
    auto force_release(resource what, Token&& token = Token())
    {
        return asio::async_initiate<Token, void(error_code, forced_release)>(
            [](auto handler, std::shared_ptr<io::engine> engine, resource name) {
                const auto& usual = detail::usual_executor(*engine);
                start_force_release(
                    std::move(engine), std::move(name), force_handler(std::move(handler), usual));
            },
            token, engine_, std::move(what));
    }

    /// A consistent snapshot. Locks a mutex and copies text: for operators, not for hot paths.
    [[nodiscard]] HOLDFAST_EXPORT locker_stats stats() const;

private:
    friend class lock;
    friend class election;
    using close_handler = detail::any_handler<void(error_code)>;
    HOLDFAST_EXPORT static void start_drain(std::shared_ptr<io::engine> engine,
        std::chrono::milliseconds deadline, close_handler&& handler);
    using inspect_handler = detail::any_handler<void(error_code, resource_report)>;
    using list_handler = detail::any_handler<void(error_code, lock_list)>;
    using force_handler = detail::any_handler<void(error_code, forced_release)>;
    HOLDFAST_EXPORT static void start_close(
        std::shared_ptr<io::engine> engine, close_handler&& handler);
    HOLDFAST_EXPORT static void start_inspect(
        std::shared_ptr<io::engine>, resource, inspect_handler&&);
    HOLDFAST_EXPORT static void start_list(
        std::shared_ptr<io::engine>, std::string, list_handler&&);
    HOLDFAST_EXPORT static void start_force_release(
        std::shared_ptr<io::engine>, resource, force_handler&&);

    std::shared_ptr<io::engine> engine_;
};

} // namespace holdfast
