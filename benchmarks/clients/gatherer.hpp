#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace benchmark {

// Gathers orders as `holdfast::batcher` does, but without a lock: those that come while a batch is
// under way are in the next one.
class gatherer {
public:
    using body = std::function<boost::asio::awaitable<void>(std::size_t)>;

    gatherer(boost::asio::io_context& io, body one_batch) : io_(io), body_(std::move(one_batch)) {}

    // Completes when the batch of this order is done. An exception of the body leaves `io.run()`.
    boost::asio::awaitable<void> submit()
    {
        return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void()>(
            [this](auto told) { add(std::move(told)); }, boost::asio::use_awaitable);
    }

private:
    using handler = boost::asio::any_completion_handler<void()>;
    static constexpr std::size_t max_batch = 256; // as batch_options

    void add(handler one)
    {
        waiting_.push_back(std::move(one));
        if (std::exchange(busy_, true))
            return;
        boost::asio::co_spawn(io_, serve(), [](std::exception_ptr error) {
            if (error)
                std::rethrow_exception(error);
        });
    }

    boost::asio::awaitable<void> serve()
    {
        while (!waiting_.empty()) {
            // Those that were just told order again, and are in the next batch.
            co_await boost::asio::post(boost::asio::use_awaitable);
            const auto size = std::min(waiting_.size(), max_batch);
            const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(size);
            std::vector<handler> batch(
                std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
            waiting_.erase(waiting_.begin(), end);
            co_await body_(size);
            for (handler& each : batch)
                boost::asio::post(io_, std::move(each));
        }
        busy_ = false;
    }

    boost::asio::io_context& io_;
    const body body_;
    std::deque<handler> waiting_;
    bool busy_ = false;
};

} // namespace benchmark
