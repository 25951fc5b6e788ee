#pragma once

#include <holdfast/detail/batch_desk.hpp>
#include <holdfast/detail/hold.hpp>
#include <holdfast/detail/pending_handler.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::detail {

template <class Reply>
struct batch_types {
    using signature = void(error_code, Reply);
    using replies = std::vector<Reply>;
    using handler = pending_handler<error_code, Reply>;
};

template <>
struct batch_types<void> {
    using signature = void(error_code);
    using replies = void;
    using handler = pending_handler<error_code>;
};

template <class Request, class Reply>
class batch_request_of final : public batch_request {
public:
    using handler_type = typename batch_types<Reply>::handler::handler_type;

    batch_request_of(Request&& what, handler_type&& erased)
        : request(std::move(what)),
          handler(std::move(erased))
    {}

    asio::cancellation_slot slot() const noexcept override { return handler.slot(); }

    void fail(error_code why) override
    {
        if constexpr (std::is_void_v<Reply>)
            handler.complete(why);
        else
            handler.complete(why, Reply());
    }

    Request request;
    typename batch_types<Reply>::handler handler;
};

// Sets how the body has ended, by its exception, if any.
inline void describe_failure(const std::exception_ptr& failed, batch_ending& how)
{
    using kind = batch_ending::kind;
    if (!failed)
        return;
    how.body = kind::other_failure;
    try {
        std::rethrow_exception(failed);
    } catch (const boost::system::system_error& e) {
        how.why = e.code();
        if (e.code() == asio::error::operation_aborted)
            how.body = kind::aborted;
        else if (e.code())
            how.body = kind::error;
    } catch (...) {
    }
}

// The completion handler of the coroutine that serves a batch. It has the slot of `hold_state` and
// no associated executor, for the same reason as `hold_completion`.
class batch_completion {
public:
    using cancellation_slot_type = asio::cancellation_slot;

    batch_completion(std::shared_ptr<batch_desk> desk, std::shared_ptr<hold_state> state)
        : desk_(std::move(desk)),
          state_(std::move(state))
    {}

    cancellation_slot_type get_cancellation_slot() const noexcept { return state_->stop.slot(); }

    void operator()(const std::exception_ptr& error)
    {
        desk_->end_turn();
        if (error)
            std::rethrow_exception(error);
    }

private:
    std::shared_ptr<batch_desk> desk_;
    std::shared_ptr<hold_state> state_;
};

// GCC 12 warns about the linkage of this class when the body is a local lambda.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

template <class Request, class Reply, class Body>
class batch_server_of final : public batch_server {
public:
    using on_exception = std::function<void(std::exception_ptr)>;

    batch_server_of(Body&& body, on_exception told) : body_(std::move(body)), told_(std::move(told))
    {}

    void serve(std::shared_ptr<batch_desk> desk, lease held) override
    {
        auto state = std::make_shared<hold_state>(desk->strand());
        auto run = serve_batch(*this, desk, std::move(held), state);
        batch_completion completion(std::move(desk), state);
        asio::co_spawn(state->strand, std::move(run), std::move(completion));
    }

private:
    using request_type = batch_request_of<Request, Reply>;
    using replies = std::conditional_t<std::is_void_v<Reply>, std::monostate,
        typename batch_types<Reply>::replies>;

    // The completion keeps the desk, which keeps the server.
    static asio::awaitable<void> serve_batch(batch_server_of& self,
        std::shared_ptr<batch_desk> desk, lease held, std::shared_ptr<hold_state> state)
    {
        watch_loss(held, state);
        std::vector<Request> requests;
        replies given{};
        std::exception_ptr failed;
        bool taken = false;
        try {
            take_batch(*desk, requests);
            taken = true;
            if (!requests.empty()) {
                auto work = self.body_(held, std::span<Request>(requests));
                if constexpr (std::is_void_v<Reply>)
                    co_await std::move(work);
                else
                    given = co_await std::move(work);
            }
        } catch (...) {
            failed = std::current_exception();
        }
        // The body may have left the strand.
        co_await asio::this_coro::throw_if_cancelled(false);
        co_await asio::dispatch(state->strand, asio::use_awaitable);
        state->over = true;
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());

        batch_ending how;
        if (taken)
            describe_failure(failed, how);
        else
            how.body = batch_ending::kind::other_failure;
        how.stopped = state->lost;
        how.lease_over = (held || state->lost) && !held.held();
        if constexpr (!std::is_void_v<Reply>)
            how.replies = given.size();
        auto told = desk->end_batch(how);
        const error_code outcome = told.outcome;
        tell(std::move(told.waiting), outcome, given);
        // Callers that were told may submit again: then the lease can be transferred.
        co_await asio::post(state->strand, asio::use_awaitable);
        desk->ask_again();
        error_code ignored;
        auto release_token = asio::redirect_error(asio::use_awaitable, ignored);
        co_await held.release(std::move(release_token));
        const bool was_stopped =
            how.body == batch_ending::kind::aborted && outcome == errc::lease_lost;
        if (failed && self.told_ && !was_stopped)
            self.told_(failed);
    }

    static void take_batch(batch_desk& desk, std::vector<Request>& requests)
    {
        const auto batch = desk.begin_batch();
        requests.reserve(batch.size());
        for (const auto& each : batch)
            requests.push_back(std::move(static_cast<request_type&>(*each).request));
    }

    static void tell(
        std::vector<std::shared_ptr<batch_request>> callers, error_code outcome, replies& given)
    {
        for (std::size_t i = 0; i < callers.size(); ++i) {
            if (callers[i] == nullptr)
                continue;
            auto& caller = static_cast<request_type&>(*callers[i]);
            if constexpr (std::is_void_v<Reply>)
                caller.handler.complete(outcome);
            else if (outcome)
                caller.fail(outcome);
            else
                caller.handler.complete(outcome, std::move(given[i]));
        }
    }

    Body body_;
    on_exception told_;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

} // namespace holdfast::detail
