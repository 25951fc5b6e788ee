#include "held_leases.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace benchmark {

namespace asio = boost::asio;

held_leases::held_leases(
    holdfast::locker& locker, std::string prefix, std::chrono::milliseconds ttl)
    : locker_(locker),
      prefix_(std::move(prefix))
{
    options_.ttl = ttl;
    options_.wait = holdfast::forever;
}

asio::awaitable<void> held_leases::acquire(std::size_t count)
{
    wanted_ += count;
    leases_.reserve(wanted_);
    return share_out(&held_leases::acquire_share);
}

asio::awaitable<void> held_leases::release()
{
    return share_out(&held_leases::release_share);
}

std::size_t held_leases::lost() const
{
    return static_cast<std::size_t>(std::count_if(
        leases_.begin(), leases_.end(), [](const auto& lease) { return !lease.held(); }));
}

std::chrono::milliseconds held_leases::shortest_rest() const
{
    const auto now = std::chrono::steady_clock::now();
    auto shortest = options_.ttl;
    for (const auto& lease : leases_) {
        // The end of an ended lease may be so small that the subtraction overflows.
        const auto end = std::max(lease.valid_until(), now);
        shortest =
            std::min(shortest, std::chrono::duration_cast<std::chrono::milliseconds>(end - now));
    }
    return shortest;
}

asio::awaitable<void> held_leases::share_out(share one)
{
    running_ = 100;
    for (std::size_t i = running_; i > 0; --i)
        asio::co_spawn(locker_.get_executor(), (this->*one)(), [](std::exception_ptr error) {
            if (error)
                std::rethrow_exception(error);
        });
    while (running_ > 0)
        co_await asio::post(asio::use_awaitable);
}

asio::awaitable<void> held_leases::acquire_share()
{
    while (next_ < wanted_) {
        const holdfast::lock lock(locker_, prefix_ + std::to_string(next_++), options_);
        holdfast::lease lease = co_await lock.acquire();
        leases_.push_back(std::move(lease));
    }
    --running_;
}

asio::awaitable<void> held_leases::release_share()
{
    while (!leases_.empty()) {
        holdfast::lease last = std::move(leases_.back());
        leases_.pop_back();
        co_await last.release();
    }
    --running_;
}

} // namespace benchmark
