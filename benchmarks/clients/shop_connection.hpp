#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace benchmark {

namespace asio = boost::asio;

// A pipelined connection to the server with the stock. The commands that wait leave in one write.
// It knows the replies that the clients get: integers, strings without a line break, and `OK`.
class shop_connection {
public:
    shop_connection(asio::io_context& io, std::uint16_t port) : socket_(io)
    {
        socket_.connect({asio::ip::address_v4::loopback(), port});
        socket_.set_option(asio::ip::tcp::no_delay(true));
        asio::co_spawn(io, read(), asio::detached);
    }

    // Completes with the text of the reply. `command` is in the format of the server.
    asio::awaitable<std::string> ask(std::string_view command)
    {
        output_ += command;
        if (!writes_) {
            writes_ = true;
            asio::co_spawn(socket_.get_executor(), write(), asio::detached);
        }
        return asio::async_initiate<const asio::use_awaitable_t<>&, void(std::string)>(
            [this](auto handler) { waiting_.emplace_back(std::move(handler)); },
            asio::use_awaitable);
    }

    void close() { socket_.close(); }

private:
    asio::awaitable<void> write()
    {
        while (!output_.empty()) {
            const std::string leaving = std::exchange(output_, {});
            co_await asio::async_write(socket_, asio::buffer(leaving), asio::use_awaitable);
        }
        writes_ = false;
    }

    asio::awaitable<void> read()
    {
        std::array<char, 16384> buffer;
        for (;;) {
            const std::size_t size =
                co_await socket_.async_read_some(asio::buffer(buffer), asio::use_awaitable);
            for (std::size_t i = 0; i < size; ++i)
                take(buffer[i]);
        }
    }

    void take(char c)
    {
        if (c != '\n') {
            line_ += c;
            return;
        }
        std::string line = std::exchange(line_, {});
        if (line.starts_with('-'))
            throw std::runtime_error("the shop has replied: " + line);
        if (line.starts_with('$')) // a second line follows
            return;
        line.pop_back(); // the carriage return
        if (line.starts_with(':'))
            line.erase(0, 1);
        auto handler = std::move(waiting_.front());
        waiting_.pop_front();
        std::move(handler)(std::move(line));
    }

    asio::ip::tcp::socket socket_;
    std::string output_, line_;
    std::deque<asio::any_completion_handler<void(std::string)>> waiting_;
    bool writes_ = false;
};

// A command in the format of the server.
template <class... Words>
std::string shop_command(const Words&... words)
{
    std::string text = "*" + std::to_string(sizeof...(words)) + "\r\n";
    const auto add = [&text](std::string_view word) {
        text += "$" + std::to_string(word.size()) + "\r\n";
        text.append(word).append("\r\n");
    };
    (add(words), ...);
    return text;
}

} // namespace benchmark
