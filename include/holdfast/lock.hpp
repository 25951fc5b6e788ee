#pragma once

#include <holdfast/detail/export.hpp>
#include <holdfast/detail/handler.hpp>
#include <holdfast/detail/hold.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/locker.hpp>
#include <holdfast/options.hpp>
#include <holdfast/resource.hpp>
#include <holdfast/tracing.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace holdfast {

class election;

namespace io {
struct lock_terms;
struct recipe_access;
} // namespace io

/// The name of a resource and the options for locking it.
///
/// A value type: cheap to create and to copy, without cost while unused. Two locks with one name
/// are the same lock. Not reentrant: a holder that acquires again waits for itself.
///
/// Thread safety: as a `const std::string`. Lifetimes: may outlive its locker; its operations then
/// fail with `errc::closed`.
class lock {
public:
    /// Throws `std::invalid_argument` if `what` is not a resource name, or is reserved for the
    /// locks of recipes (it ends in `:holdfast:permit`, `:holdfast:reader` or `:holdfast:gate`), if
    /// `check(options)` throws, if the ttl is not longer than drift and the backend's node timeout
    /// together, or if the ttl is longer than the quarantine of a backend with fencing.
    HOLDFAST_EXPORT lock(locker& owner, holdfast::resource what, lock_options options = {});

    HOLDFAST_EXPORT const std::string& resource() const noexcept; ///< its name
    HOLDFAST_EXPORT const lock_options& options() const noexcept; ///< as checked

    /// Waits until the resource is granted to the caller, or until `wait` has passed (default: as
    /// in `lock_options`; `forever` allowed; 0 or less makes one attempt).
    ///
    /// Waiters for one resource in one locker are served first come, first served; only the first
    /// of them asks the nodes. The number of attempts under way at once is limited to what the
    /// nodes answer quickly; beyond that, resources are asked for in the order of the calls. Each
    /// attempt has a fresh owner token. A refused attempt releases what it was granted and is
    /// repeated after a random pause, which is no longer than the nodes report that the resource
    /// can stay taken.
    ///
    /// Completion: `void(error_code, lease)`, never inside this call. The lease is empty if there
    /// is an error, and only then.
    ///
    /// Errors, at the end of `wait` unless stated otherwise:
    /// - `errc::contended`  others held the resource, or were ahead in the queue.
    /// - `errc::unreachable`  too few nodes gave a usable answer; `locker::stats()` says why. At
    ///   once with `lock_options::fail_fast`, while no majority is connected.
    /// - `errc::too_late`  granted, but less than the guard time would have remained.
    /// - `errc::authentication_failed`, `permission_denied`, `misconfigured_node`,
    ///   `protocol_error`, `tls_failed`, `key_conflict`, `fencing_unavailable`  so many nodes
    ///   report this that waiting cannot help. At once, which for `key_conflict` means a few round
    ///   trips. But where the nodes are in quarantine, `fencing_unavailable` comes at the end of
    ///   `wait`.
    /// - `errc::no_random_bits`  the system gave no random bits for an owner token; at once.
    /// - `errc::overloaded`  the nodes or this process were too busy for an attempt within `wait`.
    ///   At once if so many calls wait that this one could not be attempted within `wait`. If calls
    ///   have had to wait for a place for longer than `wait` already: within a quarter of `wait`.
    ///   Also at once if more than `locker_options::max_waiting` calls wait, or more than
    ///   `lock_options::max_waiters` for this resource.
    /// - `errc::closed`  the locker was closed, or is draining; at once.
    /// - `asio::error::operation_aborted`  this call was cancelled, and for no other reason.
    ///
    /// Cancellation: terminal and partial; total only until the first request has been sent,
    /// because after that a node may hold the key for a moment. A complete grant is delivered;
    /// anything less is released in the background, and ends with its ttl at the latest.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(std::chrono::milliseconds wait, Token&& token = Token()) const
    {
        return initiate(wait, mode::wait, nullptr, token);
    }

    /// As above, with `lock_options::wait`.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(Token&& token = Token()) const
    {
        return initiate(options().wait, mode::wait, nullptr, token);
    }

    /// Makes one attempt. If the resource is held, or others of this locker already wait for it,
    /// the result is an empty lease and no error. Never overtakes waiters.
    ///
    /// Completion: `void(error_code, lease)`, never inside this call.
    ///
    /// Errors and cancellation: as `acquire()`, except for `errc::contended`, which is not an error
    /// here. While too many attempts are under way, it first waits for a place, for up to
    /// `lock_options::wait`. After that it takes about a node timeout, or the connect timeout if
    /// nodes were not yet connected.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire(Token&& token = Token()) const
    {
        return initiate(options().wait, mode::once, nullptr, token);
    }

    /// Runs `body` under the lock: acquires, runs the body, releases on every path.
    ///
    /// `body` is called as `body(lease&)` and returns `asio::awaitable<T>`. T is void or default
    /// constructible. The body runs on a strand of the caller's executor. When the lease cannot be
    /// kept, the body is cancelled a guard time before the lease ends (all types at once; a
    /// coroutine accepts only terminal by default). The reference to the lease is valid until the
    /// body returns.
    ///
    /// Completion: `void(std::exception_ptr, T)`, or `void(std::exception_ptr)` for void. So
    /// `co_await` returns the body's value or throws:
    /// - the error of `acquire()`, as `boost::system::system_error` whose `what()` begins with
    ///   `explain()`; the body did not run then;
    /// - the exception of the body; it takes precedence over any error of the release;
    /// - `errc::lease_lost`, in the same form, if the lease was lost and the body stopped because
    ///   it was cancelled, or went on beyond the end of the lease: its result may then depend on
    ///   work without a lock.
    ///
    /// Cancellation: all types; forwarded to the acquire or to the body. The release is not
    /// cancelled.
    ///
    /// GCC 12 destroys the captures of a lambda twice if the lambda is created inside a `co_await`
    /// expression. Give the body or the operation a name:
    ///
    ///     auto held = lock.hold([order](lease&) -> asio::awaitable<void> { ... });
    ///     co_await std::move(held);
    ///
    /// The default token here is `asio::use_awaitable`: Boost 1.81 cannot `co_await` a deferred
    /// operation with this signature.
    template <class Body, class Token = asio::use_awaitable_t<>>
    requires std::is_invocable_v<Body&, lease&>
    [[nodiscard]] auto hold(Body body, Token&& token = Token()) const
    {
        return detail::initiate_hold<lease>(*this, std::move(body), token);
    }

    /// What is known about the cause of `why`, an error of an operation on this lock or its lease,
    /// in one line, without the message of `why`: the resource; for errors that nodes can cause,
    /// which nodes are in trouble and how (`describe_nodes()`); for `errc::contended`, whether a
    /// lease of this locker holds the resource at the time of this call. Such a caller may be
    /// waiting for itself. `hold()` puts it into the `what()` of its exceptions.
    ///
    /// Call it soon: it describes the present state. Safe to log. Locks a mutex and copies text,
    /// as `locker::stats()` does.
    [[nodiscard]] HOLDFAST_EXPORT std::string explain(const error_code& why) const;

    /// The executor of the locker.
    HOLDFAST_EXPORT asio::any_io_executor get_executor() const noexcept;

private:
    friend struct detail::hold_access;
    friend struct io::recipe_access;
    friend class election;
    enum class mode : std::uint8_t { wait, once, hold }; // hold: as wait, with its own span
    using acquire_handler = detail::any_handler<void(error_code, lease)>;

    // Any name is allowed for the locks that recipes are made of.
    struct for_recipe {};
    lock(locker& owner, holdfast::resource what, lock_options options, for_recipe);

    // `span`: of a hold; other operations begin their own.
    template <class Token>
    auto initiate(std::chrono::milliseconds wait, mode how, std::shared_ptr<trace_span> span,
        Token& token) const
    {
        return asio::async_initiate<Token, void(error_code, lease)>(
            [](auto handler, std::shared_ptr<io::engine> engine,
                std::shared_ptr<const io::lock_terms> terms, std::chrono::milliseconds limit,
                mode way, std::shared_ptr<trace_span> begun) {
                const auto& usual = detail::usual_executor(*engine);
                start_acquire(std::move(engine), std::move(terms), limit, way, std::move(begun),
                    acquire_handler(std::move(handler), usual));
            },
            token, engine_, terms_, wait, how, std::move(span));
    }
    // For hold(). Moves the span.
    template <class Token>
    auto initiate_hold(std::shared_ptr<trace_span>& span, Token& token) const
    {
        return initiate(options().wait, mode::hold, std::move(span), token);
    }
    // Null without a tracer.
    HOLDFAST_EXPORT std::shared_ptr<trace_span> begin_span() const;

    HOLDFAST_EXPORT static void start_acquire(std::shared_ptr<io::engine> engine,
        std::shared_ptr<const io::lock_terms> terms, std::chrono::milliseconds wait, mode how,
        std::shared_ptr<trace_span> span, acquire_handler&& handler);

    std::shared_ptr<io::engine> engine_;
    std::shared_ptr<const io::lock_terms> terms_;
};

} // namespace holdfast
