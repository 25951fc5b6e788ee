#pragma once

#include "core/slot_map.hpp"
#include "io/recycled.hpp"

#include <holdfast/detail/handler.hpp>
#include <holdfast/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>

#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>

namespace holdfast::io {

namespace asio = boost::asio;

// How many handlers have thrown on this thread.
inline thread_local constinit std::size_t handlers_thrown = 0;

enum class operation_kind : std::uint8_t {
    acquire,
    lost,
    extend,
    release,
    drain,
    close,
    inspect,
    list,
    force_release
};

// A user's operation that has not completed. Owned by the engine until it is delivered.
class operation : public recycled {
public:
    operation(operation_kind which, core::slot_id subject) noexcept : kind(which), about(subject) {}
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;
    virtual ~operation() = default;

    virtual asio::cancellation_slot slot() const noexcept = 0;
    virtual void set_error(error_code ec) = 0;
    virtual bool has_failed() const noexcept = 0; // with an error
    // Calls the handler with the result, on the handler's executor. To be called without a lock.
    // `self` is this operation. It is destroyed before the handler runs.
    virtual void deliver(std::unique_ptr<operation> self) = 0;

    const operation_kind kind;
    core::slot_id id = 0;      // of this operation
    core::slot_id about;       // of its wait or lease
    operation* next = nullptr; // in the list of its lease, or in the list of finished operations
    operation* previous = nullptr;
};

inline void deliver(std::unique_ptr<operation> op)
{
    operation& each = *op;
    each.deliver(std::move(op));
}

// An operation whose handler has the signature void(error_code, Results...).
template <class... Results>
class operation_of final : public operation {
public:
    using handler_type = detail::any_handler<void(error_code, Results...)>;

    operation_of(
        operation_kind which, core::slot_id subject, handler_type&& handler, Results... initial)
        : operation(which, subject),
          executor_(at_work(std::move(handler.executor))),
          handler_(std::move(handler.function)),
          results_(error_code(), std::move(initial)...)
    {}

    asio::cancellation_slot slot() const noexcept override
    {
        return asio::get_associated_cancellation_slot(handler_);
    }

    void set_error(error_code ec) override { std::get<0>(results_) = ec; }
    bool has_failed() const noexcept override { return bool(std::get<0>(results_)); }

    template <class Result>
    void set_result(Result result)
    {
        std::get<Result>(results_) = std::move(result);
    }

    template <class Result>
    Result& result() noexcept
    {
        return std::get<Result>(results_);
    }

    void deliver(std::unique_ptr<operation> self) override
    {
        const auto executor = std::move(executor_);
        auto completion = [handler = std::move(handler_), results = std::move(results_)]() mutable {
            if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
                slot.clear();
            try {
                std::apply(std::move(handler), std::move(results));
            } catch (...) {
                ++handlers_thrown;
                throw;
            }
        };
        self.reset();
        if (const auto* const usual = std::get_if<asio::any_io_executor>(&executor))
            usual->execute(std::move(completion)); // as dispatch(), without copies of the executor
        else
            asio::dispatch(
                std::get<asio::any_completion_executor>(executor), std::move(completion));
    }

private:
    // The executor has outstanding work until the handler has run.
    static detail::handler_executor at_work(detail::handler_executor chosen)
    {
        constexpr auto tracked = asio::execution::outstanding_work.tracked;
        if (const auto* const usual = std::get_if<asio::any_io_executor>(&chosen))
            return asio::prefer(*usual, tracked);
        return asio::prefer(std::get<asio::any_completion_executor>(chosen), tracked);
    }

    detail::handler_executor executor_;
    asio::any_completion_handler<void(error_code, Results...)> handler_;
    std::tuple<error_code, Results...> results_;
};

} // namespace holdfast::io
