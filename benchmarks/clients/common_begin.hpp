#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/system_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>

namespace benchmark {

// The same in all programs, whatever their language.
using wall = std::chrono::system_clock;

// Several processes begin at one instant, so that their windows are the same: waits for it, in
// milliseconds since 1970. 0: at once.
inline boost::asio::awaitable<void> common_begin(std::int64_t begin_ms)
{
    if (begin_ms == 0)
        co_return;
    const wall::time_point begin{std::chrono::milliseconds(begin_ms)};
    if (wall::now() > begin)
        throw std::runtime_error("was connected only after --begin");
    boost::asio::system_timer timer(co_await boost::asio::this_coro::executor, begin);
    co_await timer.async_wait(boost::asio::use_awaitable);
}

} // namespace benchmark
