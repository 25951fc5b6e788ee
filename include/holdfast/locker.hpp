#pragma once

#include <holdfast/backend.hpp>
#include <holdfast/detail/handler.hpp>
#include <holdfast/error.hpp>
#include <holdfast/options.hpp>
#include <holdfast/stats.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <memory>
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
/// Then the operations pending in the child's copy are destroyed, its copies of leases are not
/// held, new operations fail, and nothing is sent.
class locker {
public:
    using executor_type = asio::any_io_executor;

    /// Starts to connect in the background on `executor`, which also runs the handlers that have no
    /// associated executor. The executor may be a strand, a thread pool or an `io_context`; its
    /// context must live as long as the locker's operations.
    ///
    /// A handler that blocks delays nothing else while the executor has another free thread. On a
    /// strand, or with one thread, it delays all work of the locker. An exception from a handler
    /// propagates out of the `run()` that called it, one exception at a time.
    ///
    /// Throws `std::invalid_argument` if `check(options)` throws.
    locker(asio::any_io_executor executor, backend store, locker_options options = {});

    /// As `close()`, without waiting for its end: never blocks, never throws. If the executor does
    /// not run any more, keys that are still held end by their ttl.
    ~locker();

    locker(locker&&) noexcept = default;
    locker& operator=(locker&& other) noexcept;

    executor_type get_executor() const noexcept;

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
    auto close(Token&& token = Token())
    {
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler, std::shared_ptr<io::engine> engine) {
                const auto& usual = detail::usual_executor(*engine);
                start_close(std::move(engine), close_handler(std::move(handler), usual));
            },
            token, engine_);
    }

    /// A consistent snapshot. Locks a mutex and copies text: for operators, not for hot paths.
    locker_stats stats() const;

private:
    friend class lock;
    using close_handler = detail::any_handler<void(error_code)>;
    static void start_close(std::shared_ptr<io::engine> engine, close_handler&& handler);

    std::shared_ptr<io::engine> engine_;
};

} // namespace holdfast
