#pragma once

#include <holdfast/detail/handler.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <utility>
#include <variant>

namespace holdfast::detail {

// The handler of an operation that is under way. Its executor has outstanding work until the
// handler has run.
template <class... Results>
class pending_handler {
public:
    using handler_type = any_handler<void(Results...)>;

    explicit pending_handler(handler_type&& handler)
        : executor_(at_work(std::move(handler.executor))),
          function_(std::move(handler.function))
    {}

    asio::cancellation_slot slot() const noexcept
    {
        return asio::get_associated_cancellation_slot(function_);
    }

    // Calls the handler in a later turn of its executor. To be called once.
    void complete(Results... results)
    {
        auto completion = [function = std::move(function_),
                              ... results = std::move(results)]() mutable {
            if (auto slot = asio::get_associated_cancellation_slot(function); slot.is_connected())
                slot.clear();
            std::move(function)(std::move(results)...);
        };
        const auto executor = std::move(executor_);
        if (const auto* const usual = std::get_if<asio::any_io_executor>(&executor))
            asio::post(*usual, std::move(completion));
        else
            pass_on_later(std::get<asio::any_completion_executor>(executor), std::move(completion));
    }

private:
    static handler_executor at_work(handler_executor chosen)
    {
        constexpr auto tracked = asio::execution::outstanding_work.tracked;
        if (const auto* const usual = std::get_if<asio::any_io_executor>(&chosen))
            return asio::prefer(*usual, tracked);
        return asio::prefer(std::get<asio::any_completion_executor>(chosen), tracked);
    }

    handler_executor executor_;
    asio::any_completion_handler<void(Results...)> function_;
};

} // namespace holdfast::detail
