#include "redis_stock.hpp"

#include <holdfast/guarded_write.hpp>

#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <exception>
#include <stdexcept>
#include <utility>

namespace flash_sale_web {
namespace {

constexpr auto take_script = "if tonumber(redis.call('GET', KEYS[1])) > 0 then "
                             "return redis.call('DECR', KEYS[1]) end return -1";

// ":9" or "-ERR …". One reply is one line here.
asio::awaitable<std::string> call(asio::ip::tcp::socket& socket, const std::string& command)
{
    const auto bytes = asio::buffer(command);
    co_await asio::async_write(socket, bytes, asio::use_awaitable);
    std::string reply;
    auto input = asio::dynamic_buffer(reply);
    const auto size = co_await asio::async_read_until(socket, input, "\r\n", asio::use_awaitable);
    reply.resize(size - 2);
    co_return reply;
}

} // namespace

redis_stock::redis_stock(asio::any_io_executor executor, std::uint16_t port, std::size_t most)
    : executor_(executor),
      port_(port),
      free_(executor, most)
{
    for (std::size_t i = 0; i < most; ++i)
        free_.try_send(boost::system::error_code(), slot());
}

asio::awaitable<bool> redis_stock::take(std::int64_t item)
{
    const holdfast::guarded_write take{take_script, {"stock:" + std::to_string(item)}, {}};
    const std::string command = take.encoded();
    slot used = co_await free_.async_receive(asio::use_awaitable);
    std::string reply;
    std::exception_ptr error;
    try {
        if (!used) {
            used = std::make_shared<asio::ip::tcp::socket>(executor_);
            const asio::ip::tcp::endpoint there(asio::ip::address_v4::loopback(), port_);
            co_await used->async_connect(there, asio::use_awaitable);
        }
        reply = co_await call(*used, command);
    } catch (...) {
        error = std::current_exception();
        used.reset();
    }
    free_.try_send(boost::system::error_code(), std::move(used));
    if (error)
        std::rethrow_exception(error);
    if (!reply.starts_with(':'))
        throw std::runtime_error("the stock's server answers: " + reply);
    co_return !reply.starts_with(":-");
}

} // namespace flash_sale_web
