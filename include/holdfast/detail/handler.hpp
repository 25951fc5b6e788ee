#pragma once

#include <holdfast/detail/export.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/system_executor.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

namespace holdfast {

namespace asio = boost::asio;

namespace io {
class engine;
}

namespace detail {

// The executor for handlers that have no associated executor.
HOLDFAST_EXPORT const asio::any_io_executor& usual_executor(const io::engine& engine) noexcept;

// The executor of a handler. `any_io_executor` can hold nearly all executors without an allocation.
using handler_executor = std::variant<asio::any_io_executor, asio::any_completion_executor>;

template <class Handler>
handler_executor executor_of(const Handler& handler, const asio::any_io_executor& usual)
{
    using executor = asio::associated_executor_t<Handler, asio::any_io_executor>;
    using held = std::conditional_t<std::is_constructible_v<asio::any_io_executor, executor>,
        asio::any_io_executor, asio::any_completion_executor>;
    return handler_executor(
        std::in_place_type<held>, asio::get_associated_executor(handler, usual));
}

// A type-erased handler. Its executor is queried before the type is erased: an erased handler
// allocates a new executor object at each query.
template <class Signature>
struct any_handler {
    template <class Handler>
    any_handler(Handler&& handler, const asio::any_io_executor& usual)
        : executor(executor_of(handler, usual)),
          function(std::forward<Handler>(handler))
    {}

    handler_executor executor;
    asio::any_completion_handler<Signature> function;
};

// Submits a completion to an executor that may run it inside `execute()`. A thread of the system
// context makes that call. If the completion runs on another thread, it does not begin before the
// first thread has destroyed its copy of the executor: the completion may destroy the executor's
// context.
template <class Executor, class Completion>
void pass_on_later(const Executor& executor, Completion completion)
{
    auto target = asio::prefer(executor, asio::execution::outstanding_work.tracked);
    asio::post(asio::system_executor(),
        [target = std::move(target), run = std::move(completion)]() mutable {
            const auto passed_on = std::make_shared<std::atomic_flag>();
            const auto here = std::this_thread::get_id();
            {
                const auto there = std::move(target);
                there.execute([passed_on, here, run = std::move(run)]() mutable {
                    if (std::this_thread::get_id() != here)
                        passed_on->wait(false);
                    std::move(run)();
                });
            }
            passed_on->test_and_set();
            passed_on->notify_all();
        });
}

// Calls a handler with results that are already known. The call happens later, on the handler's
// associated executor or on the system executor.
template <class Handler, class... Results>
void complete_later(Handler&& handler, Results... results)
{
    const auto executor = asio::get_associated_executor(handler);
    if constexpr (asio::can_require_v<std::remove_cv_t<decltype(executor)>,
                      asio::execution::blocking_t::never_t>)
        asio::post(asio::append(std::forward<Handler>(handler), results...));
    else // the executor of an erased handler
        pass_on_later(
            executor, [handler = std::remove_cvref_t<Handler>(std::forward<Handler>(handler)),
                          results...]() mutable { std::move(handler)(results...); });
}

} // namespace detail
} // namespace holdfast
