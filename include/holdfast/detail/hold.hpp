#pragma once

#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/tracing.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace holdfast {

class lock;

namespace detail {

template <class Awaitable>
struct awaited;

template <class T, class Executor>
struct awaited<asio::awaitable<T, Executor>> {
    using type = T;
};

template <class Lease, class Body>
using body_result = typename awaited<std::invoke_result_t<Body&, Lease&>>::type;

template <class T>
struct hold_signature {
    using type = void(std::exception_ptr, T);
};

template <>
struct hold_signature<void> {
    using type = void(std::exception_ptr);
};

// State that an operation shares with its cancellers. It is accessed on one strand only.
//
// The signal is a member because `co_spawn()` of Boost 1.81 forwards a cancellation as a pointer
// into the slot that received it, and that slot may be destroyed meanwhile. This signal lives as
// long as anything may emit it.
struct hold_state {
    explicit hold_state(asio::any_io_executor where) : strand(std::move(where)) {}

    const asio::any_io_executor strand;
    asio::cancellation_signal stop; // cancels the acquire, or the body
    bool lost = false;
    bool over = false; // nothing is left to cancel
};

// The completion handler that `co_spawn()` calls on the strand at the end. It forwards the result
// to the user's handler, on the executor of that handler.
//
// It has the slot of `hold_state` and no associated executor. So `co_spawn()` cancels its coroutine
// inside the call that emits the signal, which is on the strand too.
template <class Handler, class Executor>
class hold_completion {
public:
    using cancellation_slot_type = asio::cancellation_slot;

    hold_completion(Handler&& handler, const Executor& executor, std::shared_ptr<hold_state> state)
        : handler_(std::move(handler)),
          work_(executor),
          state_(std::move(state))
    {}

    cancellation_slot_type get_cancellation_slot() const noexcept { return state_->stop.slot(); }

    template <class... Results>
    void operator()(std::exception_ptr error, Results... results)
    {
        auto completion = [handler = std::move(handler_), error = std::move(error),
                              ... results = std::move(results)]() mutable {
            if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
                slot.clear();
            std::move(handler)(std::move(error), std::move(results)...);
        };
        asio::dispatch(work_.get_executor(), std::move(completion));
    }

private:
    Handler handler_;
    asio::executor_work_guard<Executor> work_;
    std::shared_ptr<hold_state> state_;
};

// Lives in the user's slot, perhaps longer than the context. The user may emit while the operation
// ends on another thread.
class hold_canceller {
public:
    explicit hold_canceller(const std::shared_ptr<hold_state>& state) : state_(state) {}

    void operator()(asio::cancellation_type type) const
    {
        auto state = state_.lock();
        if (!state)
            return;
        const auto strand = state->strand;
        asio::dispatch(strand, [state = std::move(state), type] {
            if (!state->over)
                state->stop.emit(type);
        });
    }

private:
    std::weak_ptr<hold_state> state_;
};

// Cancels the work under the lease when it is lost. To be called on the strand.
template <class Lease>
void watch_loss(const Lease& held, const std::shared_ptr<hold_state>& state)
{
    auto watch = [state](error_code ec) {
        if (state->over || state->lost || ec != errc::lease_lost)
            return;
        state->lost = true;
        state->stop.emit(asio::cancellation_type::all);
    };
    held.lost(asio::bind_executor(state->strand, std::move(watch)));
}

inline bool is_abort(const std::exception_ptr& error)
{
    try {
        std::rethrow_exception(error);
    } catch (const boost::system::system_error& e) {
        return e.code() == asio::error::operation_aborted;
    } catch (...) {
        return false;
    }
}

// Of an operation on this lock.
template <class Lock>
std::exception_ptr explained(const Lock& lock, error_code why)
{
    return std::make_exception_ptr(boost::system::system_error(why, lock.explain(why)));
}

// The body's error takes precedence, then the loss of the lease if it may affect the result.
template <class Lock>
std::exception_ptr judge_hold(const Lock& lock, std::exception_ptr error, bool lost, bool held)
{
    if (lost && (error ? is_abort(error) : !held))
        return explained(lock, make_error_code(errc::lease_lost));
    return error;
}

// What `hold()` needs of a lock besides its public members: its span begins where `hold()` is
// called, not where the coroutine acquires.
struct hold_access {
    template <class Lock>
    static std::shared_ptr<trace_span> begin_span(const Lock& lock)
    {
        return lock.begin_span();
    }

    // Moves the span. Not a value, because GCC 12 destroys temporaries of a `co_await` twice.
    template <class Lock, class Token>
    static auto acquire(const Lock& lock, std::shared_ptr<trace_span>& span, Token& token)
    {
        return lock.initiate_hold(span, token);
    }
};

// GCC 12 warns about the linkage of the coroutine frame when the body is a local lambda.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

template <class Lease, class Lock, class Body, class T = body_result<Lease, Body>>
asio::awaitable<T> run_hold(
    Lock lock, Body body, std::shared_ptr<hold_state> state, std::shared_ptr<trace_span> span)
{
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());

    error_code refused;
    auto acquire_token = asio::redirect_error(asio::use_awaitable, refused);
    Lease held = co_await hold_access::acquire(lock, span, acquire_token);
    if (refused)
        std::rethrow_exception(explained(lock, refused));
    const auto acquiring = co_await asio::this_coro::cancellation_state;

    watch_loss(held, state);

    // A cancellation arrived together with the grant: the body must not begin.
    if (acquiring.cancelled() != asio::cancellation_type::none) {
        state->over = true;
        held = Lease();
        throw boost::system::system_error(asio::error::operation_aborted);
    }

    // The body receives cancellations with the default filter of a separate coroutine.
    co_await asio::this_coro::reset_cancellation_state();
    std::conditional_t<std::is_void_v<T>, std::monostate, std::optional<T>> result;
    std::exception_ptr error;
    try {
        auto work = body(held);
        if constexpr (std::is_void_v<T>)
            co_await std::move(work);
        else
            result.emplace(co_await std::move(work));
    } catch (...) {
        error = std::current_exception();
    }
    // The body may have left the strand.
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await asio::dispatch(state->strand, asio::use_awaitable);
    state->over = true;

    const bool still_held = held.held();
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    error_code failed;
    auto release_token = asio::redirect_error(asio::use_awaitable, failed);
    const release_outcome outcome = co_await held.release(std::move(release_token));

    // A body that blocks its thread cannot be told of the loss: the release detects it.
    const bool ended = !failed && outcome == release_outcome::expired;
    // A failed release means that the body released the lease itself.
    const bool protected_to_its_end = failed || (still_held && !ended);
    error = judge_hold(lock, std::move(error), state->lost || ended, protected_to_its_end);
    if (error)
        std::rethrow_exception(error);
    if constexpr (!std::is_void_v<T>)
        co_return std::move(*result);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <class Lease, class Lock, class Body, class Token>
auto initiate_hold(const Lock& lock, Body body, Token& token)
{
    using signature = typename hold_signature<body_result<Lease, Body>>::type;
    return asio::async_initiate<Token, signature>(
        []<class Handler>(Handler handler, Lock held_by, Body to_do) {
            const auto executor = asio::get_associated_executor(handler, held_by.get_executor());
            auto state = std::make_shared<hold_state>(asio::make_strand(executor));
            if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
                slot.assign(hold_canceller(state));
            auto span = hold_access::begin_span(held_by);
            auto run =
                run_hold<Lease>(std::move(held_by), std::move(to_do), state, std::move(span));
            hold_completion completion(std::move(handler), executor, state);
            asio::co_spawn(state->strand, std::move(run), std::move(completion));
        },
        token, lock, std::move(body));
}

} // namespace detail
} // namespace holdfast
