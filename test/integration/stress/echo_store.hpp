#pragma once

#include "core/address.hpp"
#include "core/backend.hpp"

#include <holdfast/backend.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

namespace holdfast::test {

/// Sends back what it receives, on its own thread. Each connection is closed after some bytes.
class echo_server {
public:
    echo_server();
    ~echo_server();

    core::address address() const { return {.host = "127.0.0.1", .port = port_, .path = {}}; }
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

/// A store that grants and releases when the server has sent a request back. It checks the contract
/// of io: calls come one at a time, bytes in order, and only while the stream is open.
backend echo_store(const core::address& server);

} // namespace holdfast::test
