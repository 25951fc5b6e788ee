#pragma once

#include "support/fault_proxy.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>

// One connection through a fault proxy. Only for fault_proxy.cpp.
namespace holdfast::test::proxy {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using steady = std::chrono::steady_clock;
using task = asio::awaitable<void>;
using boost::system::error_code;

inline constexpr auto no_throw = asio::experimental::as_tuple(asio::use_awaitable);

// Bytes that were read and not delivered yet. Empty: the end of the stream.
struct piece {
    steady::time_point read;
    std::string bytes;
};

// One direction of a connection. All decisions are made when a piece is delivered, so a change of
// the faults also applies to pieces that were read before.
struct stream {
    stream(tcp::socket& source, tcp::socket& target, const stream_faults& all)
        : from(source),
          to(target),
          faults(all),
          changed(source.get_executor())
    {}

    steady::time_point next_delivery() const
    {
        if (pieces.empty() || faults.held || (faults.lost && pieces.front().bytes.empty()))
            return steady::time_point::max();
        return std::max(due(pieces.front()), next_byte);
    }

    // At a whole millisecond, so that one wake-up delivers several pieces: a proxy that takes more
    // CPU for late pieces than for others would slow down what is measured beside it.
    steady::time_point due(const piece& p) const
    {
        return faults.delay == faults.delay.zero()
                   ? p.read
                   : std::chrono::ceil<std::chrono::milliseconds>(p.read + faults.delay);
    }

    tcp::socket& from;
    tcp::socket& to;
    const stream_faults& faults;
    std::deque<piece> pieces;
    asio::steady_timer changed; // cancelled when `next_delivery` may have changed
    steady::time_point next_byte{};
    std::size_t arrived = 0; // bytes, since the faults were set
    bool spoilt = false;     // bytes were lost or replaced: no correct bytes can follow
    bool ended = false;
};

struct connection {
    connection(tcp::socket accepted, const link_faults& faults)
        : client(std::move(accepted)),
          server(client.get_executor()),
          to_server(client, server, faults.to_server),
          to_client(server, client, faults.to_client)
    {}

    bool open() const { return client.is_open(); }

    // By RST if `abruptly`, else by FIN.
    void end(bool abruptly)
    {
        error_code ignored;
        for (tcp::socket* each : {&client, &server}) {
            if (abruptly)
                each->set_option(asio::socket_base::linger(true, 0), ignored);
            each->close(ignored);
        }
        wake();
    }

    void wake()
    {
        to_server.changed.cancel();
        to_client.changed.cancel();
    }

    tcp::socket client, server;
    stream to_server, to_client;
};

using shared = std::shared_ptr<connection>; // owned by its streams until both have ended

inline task read_all(shared c, stream& s)
{
    std::array<char, 4096> chunk;
    for (;;) {
        const auto [ec, count] = co_await s.from.async_read_some(asio::buffer(chunk), no_throw);
        if (!c->open())
            co_return;
        s.pieces.push_back({steady::now(), std::string(chunk.data(), count)});
        if (s.pieces.size() == 1) // `next_delivery` is that of the first
            s.changed.cancel();
        if (ec)
            co_return;
    }
}

// Takes the bytes that may arrive now from the front.
inline std::string take(stream& s)
{
    std::string bytes = std::move(s.pieces.front().bytes);
    std::string rest;
    if (!s.faults.instead.empty()) {
        bytes = s.faults.instead;
        s.spoilt = true;
    } else if (s.faults.bytes_per_second != 0) {
        rest = bytes.substr(1);
        bytes.resize(1);
        s.next_byte = steady::now() + steady::duration(std::chrono::seconds(1)) /
                                          static_cast<long>(s.faults.bytes_per_second);
    }
    if (rest.empty())
        s.pieces.pop_front();
    else
        s.pieces.front().bytes = std::move(rest);
    return bytes;
}

inline task deliver_all(shared c, stream& s)
{
    while (c->open()) {
        const auto next = s.next_delivery();
        if (next > steady::now()) {
            s.changed.expires_at(next);
            co_await s.changed.async_wait(no_throw);
            continue;
        }
        if (s.pieces.front().bytes.empty()) {
            error_code ignored;
            s.to.shutdown(tcp::socket::shutdown_send, ignored);
            break;
        }
        std::string bytes = take(s);
        s.spoilt = s.spoilt || s.faults.lost;
        if (s.spoilt && s.faults.instead.empty())
            continue;
        const auto limit = s.faults.reset_after;
        if (limit)
            bytes.resize(std::min(bytes.size(), *limit - std::min(*limit, s.arrived)));
        s.arrived += bytes.size();
        const auto [ec, count] = co_await asio::async_write(s.to, asio::buffer(bytes), no_throw);
        if (ec || (limit && s.arrived >= *limit))
            c->end(true);
    }
    s.ended = true;
    if (c->to_server.ended && c->to_client.ended)
        c->end(false);
}

} // namespace holdfast::test::proxy
