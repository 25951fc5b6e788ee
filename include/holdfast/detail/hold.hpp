#pragma once

#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/as_tuple.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace holdfast {

class lock;

namespace detail {

template <class Awaitable>
struct awaited;

template <class T, class Executor>
struct awaited<asio::awaitable<T, Executor>> {
    using type = T;
};

template <class Body>
using body_result = typename awaited<std::invoke_result_t<Body&, lease&>>::type;

template <class T>
struct hold_signature {
    using type = void(std::exception_ptr, T);
};

template <>
struct hold_signature<void> {
    using type = void(std::exception_ptr);
};

// What the body and the watcher of its lease share. All of it is touched on one strand only.
struct hold_state {
    asio::cancellation_signal stop; // stops the body
    bool lost = false;
    bool done = false;
};

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

// The body's error wins; then the loss, if it may have touched the result; then nothing.
inline std::exception_ptr judge_hold(std::exception_ptr error, bool lost, bool held)
{
    if (lost && (error ? is_abort(error) : !held))
        return std::make_exception_ptr(
            boost::system::system_error(make_error_code(errc::lease_lost)));
    return error;
}

// GCC 12 warns of the linkage of the coroutine's frame when the body is a local lambda.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

template <class Lock, class Body, class T = body_result<Body>>
asio::awaitable<T> run_hold(Lock lock, Body body)
{
    const auto strand = co_await asio::this_coro::executor;
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());

    lease held = co_await lock.acquire(asio::use_awaitable);
    auto own = co_await asio::this_coro::cancellation_state;
    co_await asio::this_coro::throw_if_cancelled(false);

    const auto state = std::make_shared<hold_state>();
    auto watch = [state](error_code ec) {
        if (state->done || ec != errc::lease_lost)
            return;
        state->lost = true;
        state->stop.emit(asio::cancellation_type::all);
    };
    held.lost(asio::bind_executor(strand, std::move(watch)));

    // A cancellation that came together with the grant: the body must not begin.
    if (own.cancelled() != asio::cancellation_type::none) {
        state->done = true;
        held = lease();
        throw boost::system::system_error(asio::error::operation_aborted);
    }

    // Whoever cancels us cancels the body: its slot is taken by `state`, ours is free meanwhile.
    if (own.slot().is_connected())
        own.slot().assign([state](asio::cancellation_type type) { state->stop.emit(type); });
    auto running = asio::co_spawn(strand, body(held), asio::deferred);
    auto token = asio::bind_cancellation_slot(
        state->stop.slot(), asio::experimental::as_tuple(asio::use_awaitable));
    auto result = co_await std::move(running)(std::move(token));
    state->done = true;
    if (own.slot().is_connected())
        own.slot().clear();

    const bool still_held = held.held();
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    auto release_token = asio::experimental::as_tuple(asio::use_awaitable);
    const auto [failed, outcome] = co_await held.release(std::move(release_token));

    // A body that blocks its thread keeps everybody from telling it: the release finds out.
    const bool ended = !failed && outcome == release_outcome::expired;
    const bool protected_to_its_end = failed || (still_held && !ended); // failed: the body released
    const auto error = judge_hold(std::get<0>(result), state->lost || ended, protected_to_its_end);
    if (error)
        std::rethrow_exception(error);
    if constexpr (!std::is_void_v<T>)
        co_return std::move(std::get<1>(result));
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <class Lock, class Body, class Token>
auto initiate_hold(const Lock& lock, Body body, Token& token)
{
    using signature = typename hold_signature<body_result<Body>>::type;
    return asio::async_initiate<Token, signature>(
        [](auto handler, Lock held_by, Body work) {
            const auto strand =
                asio::make_strand(asio::get_associated_executor(handler, held_by.get_executor()));
            asio::co_spawn(
                strand, run_hold(std::move(held_by), std::move(work)), std::move(handler));
        },
        token, lock, std::move(body));
}

} // namespace detail
} // namespace holdfast
