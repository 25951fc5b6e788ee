#pragma once

#include <holdfast/detail/batch_desk.hpp>
#include <holdfast/detail/batching.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/detail/handler.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast {

/// Options of a `batcher`. Checked by its constructor.
struct batch_options {
    /// How many requests are served under one lease. At least 1.
    std::size_t max_batch = 256;

    /// How many requests may wait for their batch; one more fails with `errc::overloaded`. At least
    /// 1.
    std::size_t max_queued = 1'000'000;

    /// How long the first request waits for others before the lock is asked for, unless `max_batch`
    /// requests wait. 0: not at all; then requests gather while the lock is waited for, and while
    /// the batch before is served. At most 1 min.
    std::chrono::milliseconds gather{0};

    /// Is called with each exception of the body, or of the move of a request into its batch, after
    /// the callers were told, on the strand of the body. Empty: not. Not with the abort of a body
    /// whose lease was lost. An exception from it propagates out of the `run()` that called it.
    std::function<void(std::exception_ptr)> on_exception{};
};

/// Throws `std::invalid_argument`, naming the setting, its value and its range, unless each setting
/// is in range.
HOLDFAST_EXPORT void check(const batch_options& options);

/// Gathers the requests of a process for one resource, and serves many of them under one lease.
///
/// For a resource that is so hot that one lease for each request is too slow. Requests wait in the
/// process, first come, first served. The first up to `max_batch` of them are a batch. The batcher
/// acquires the lock and calls the body with the batch; the body does the work of all of them, for
/// example in one transaction, and gives a reply to each.
///
/// One batch at a time is served. When it has ended, its callers are told, and the lock is acquired
/// again if requests wait: within `lock_options::handoff_limit` and `handoff_time` that needs no
/// request to the nodes, and after that other processes get their turn, as with any lock.
///
/// A request is served at most once, and by one batch. Its caller is told exactly once.
///
/// Thread safety: `submit()`, `close()` and `get_executor()` may be called from many threads at
/// once. Lifetimes: the destructor closes the batcher as `close()` does, without waiting for the
/// end. The body lives until the last batch has ended. As locks and leases, a batcher and its
/// operations must be destroyed before the execution context of the locker. A moved-from batcher
/// can only be destroyed or assigned to.
///
/// `Reply` is void, or default constructible and move constructible, both without an exception, and
/// not bool. If the move of a request into its batch throws, the batch fails before the body is
/// called.
template <class Request, class Reply = void>
class batcher {
    static_assert(std::is_object_v<Request> && std::move_constructible<Request>);
    static_assert(std::is_void_v<Reply> || std::is_nothrow_default_constructible_v<Reply>);
    static_assert(std::is_void_v<Reply> || std::is_nothrow_move_constructible_v<Reply>,
        "a reply whose move throws would be lost; use a pointer to it");
    static_assert(!std::is_same_v<Reply, bool>, "a vector of bool has no elements; use an enum");

public:
    /// The body is called as `body(lease&, std::span<Request>)`, for one batch at a time, and
    /// returns `asio::awaitable<std::vector<Reply>>` with a reply for each request, in their order;
    /// `asio::awaitable<void>` if `Reply` is void. The body runs on a strand of the locker's
    /// executor. It may move from the requests. The references are valid until the coroutine that
    /// it returns has ended. A lease of a backend with fencing has its token (`lease::fence()`).
    ///
    /// The body must not wait for a request of its own batcher: it would wait for itself.
    ///
    /// When the lease cannot be kept, the body is cancelled a guard time before the lease ends, as
    /// by `lock::hold()`. Cancellations of single requests do not reach it.
    ///
    /// Throws `std::invalid_argument` if `check(options)` throws.
    template <class Body>
    requires std::is_invocable_r_v<asio::awaitable<typename detail::batch_types<Reply>::replies>,
        Body&, lease&, std::span<Request>>
    batcher(const lock& under, Body body, batch_options options = {})
    {
        using server = detail::batch_server_of<Request, Reply, Body>;
        auto serving = std::make_unique<server>(std::move(body), options.on_exception);
        desk_ = detail::make_batch_desk(under, options, std::move(serving));
    }

    batcher(batcher&& other) noexcept = default; ///< Leaves the other object moved-from.
    /// Closes this batcher as the destructor does. Leaves the other object moved-from.
    batcher& operator=(batcher&& other) noexcept
    {
        if (desk_ && desk_ != other.desk_)
            desk_->close();
        desk_ = std::move(other.desk_);
        return *this;
    }
    /// Closes the batcher as `close()` does, without waiting for the end.
    ~batcher()
    {
        if (desk_)
            desk_->close();
    }

    /// Has a request served, with others, under one lease.
    ///
    /// Completion: `void(error_code, Reply)`, or `void(error_code)` if `Reply` is void; never
    /// inside this call. With an error the reply is `Reply()`.
    ///
    /// Errors before the batch has begun; the request was not served:
    /// - the errors of `lock::acquire()`. They are told to the requests that waited when that
    ///   acquire began; later ones wait for the next acquire. So a request waits at most for
    ///   `batch_options::gather` and twice `lock_options::wait` while no batch is served.
    /// - `errc::overloaded`  also if `batch_options::max_queued` requests wait; at once.
    /// - `errc::closed`  also if the batcher was closed; at once.
    /// - `asio::error::operation_aborted`  this call was cancelled.
    ///
    /// Errors after that, told to each request of the batch; whether and how far the request was
    /// served is unknown:
    /// - `errc::lease_lost`  the lease was lost, and the body stopped because it was cancelled, or
    ///   went on beyond the end of the lease.
    /// - the error code of a `boost::system::system_error` that the body has thrown.
    /// - `errc::batch_failed`  the body has thrown another exception, or one with the code
    ///   `operation_aborted` or none, or a request could not be moved; see
    ///   `batch_options::on_exception`.
    /// - `errc::wrong_reply_count`  the body gave more or fewer replies than the batch has
    /// requests.
    /// - `asio::error::operation_aborted`  this call was cancelled by the type terminal.
    ///
    /// Cancellation: before the batch has begun, all types; the request is not served then. After
    /// that terminal only: the batch goes on with the request, and its reply is dropped.
    template <asio::completion_token_for<typename detail::batch_types<Reply>::signature> Token =
                  asio::deferred_t>
    [[nodiscard]] auto submit(Request request, Token&& token = Token())
    {
        using signature = typename detail::batch_types<Reply>::signature;
        return asio::async_initiate<Token, signature>(
            [](auto handler, std::shared_ptr<detail::batch_desk> desk, Request what) {
                using request_type = detail::batch_request_of<Request, Reply>;
                typename request_type::handler_type erased(
                    std::move(handler), desk->usual_executor());
                desk->submit(std::make_shared<request_type>(std::move(what), std::move(erased)));
            },
            token, desk_, std::move(request));
    }

    /// Takes no more requests. Those that wait fail at once with `errc::closed`; a batch that is
    /// being served goes on to its end, and its callers are told as usual.
    ///
    /// Completion: `void(error_code)`, never inside this call, when no batch is served any more and
    /// the lease was given back. That takes as long as the body.
    ///
    /// Errors: `asio::error::operation_aborted` when this call was cancelled.
    ///
    /// Cancellation: all types; only the waiting ends. Repeated and concurrent calls are allowed
    /// and wait for the same end.
    template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto close(Token&& token = Token())
    {
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler, std::shared_ptr<detail::batch_desk> desk) {
                // Closing is a request of its own kind.
                using closing = detail::batch_request_of<std::monostate, void>;
                closing::handler_type erased(std::move(handler), desk->usual_executor());
                desk->close(std::make_shared<closing>(std::monostate(), std::move(erased)));
            },
            token, desk_);
    }

    /// The executor of the locker.
    asio::any_io_executor get_executor() const noexcept { return desk_->usual_executor(); }

private:
    std::shared_ptr<detail::batch_desk> desk_;
};

} // namespace holdfast
