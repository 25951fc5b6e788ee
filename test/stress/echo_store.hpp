#pragma once

#include "core/backend.hpp"

#include <holdfast/backend.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

namespace holdfast::test {

/// Sends back what it gets, on a thread of its own. Each connection is cut after some bytes.
class echo_server {
public:
    echo_server();
    ~echo_server();

    std::uint16_t port() const { return port_; }
    std::size_t connections() const { return connections_; }

private:
    asio::awaitable<void> accept();
    asio::awaitable<void> serve(asio::ip::tcp::socket socket, std::size_t until);

    asio::io_context io_{1};
    asio::ip::tcp::acceptor acceptor_;
    std::uint16_t port_;
    std::atomic<std::size_t> connections_ = 0;
    std::thread thread_;
};

/// A store that grants and releases whatever comes back from that server. It insists on what the
/// shell promises: calls come one at a time, bytes in order, and only while the stream is open.
backend echo_store(std::uint16_t port);

} // namespace holdfast::test
