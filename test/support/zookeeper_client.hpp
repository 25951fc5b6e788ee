#pragma once

#include "zookeeper/wire/jute.hpp"
#include "zookeeper/wire/messages.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

/// A plain client of a ZooKeeper server, which looks at nodes and changes them. It blocks. Its
/// session ends with it.
class zookeeper_client {
public:
    /// Throws if the server does not answer.
    explicit zookeeper_client(std::uint16_t port, std::int32_t timeout_ms = 10'000)
    {
        socket_.connect({boost::asio::ip::address_v4::loopback(), port});
        namespace wire = zookeeper_store::wire;
        send(wire::encode(
            wire::connect_request{.timeout_ms = timeout_ms, .password = std::string(16, '\0')}));
        const auto reply = wire::read_connect_reply(receive());
        if (!reply || reply->timeout_ms <= 0)
            throw std::runtime_error("no session");
        session_ = reply->session;
    }
    ~zookeeper_client()
    {
        try {
            call({.what = zookeeper_store::wire::operation::close_session});
        } catch (const std::exception&) { // it has ended already
        }
    }
    zookeeper_client(const zookeeper_client&) = delete;
    zookeeper_client& operator=(const zookeeper_client&) = delete;

    std::int64_t session() const noexcept { return session_; }

    struct answer {
        std::int32_t error = 0;
        zookeeper_store::wire::reply_body body{};
    };
    /// Events are skipped.
    answer call(zookeeper_store::wire::request request)
    {
        namespace wire = zookeeper_store::wire;
        request.number = request.what == wire::operation::authenticate
                             ? wire::number::authentication
                             : ++last_number_;
        send(wire::encode(request));
        for (;;) {
            const std::string record = receive();
            const auto header = wire::read_header(record);
            if (!header)
                throw std::runtime_error("no answer");
            if (header->number != request.number)
                continue;
            answer found{.error = header->error};
            if (header->error == 0)
                found.body = wire::read_body(request.what, record).value();
            return found;
        }
    }

    /// The names of the nodes in a folder; none if there is no such folder.
    std::vector<std::string> children(const std::string& path)
    {
        return call({.what = zookeeper_store::wire::operation::get_children, .path = path})
            .body.children;
    }
    std::int32_t create(const std::string& path,
        zookeeper_store::wire::node_mode mode = zookeeper_store::wire::node_mode::persistent,
        std::vector<zookeeper_store::wire::access> rights = {{31, "world", "anyone"}})
    {
        return call({.what = zookeeper_store::wire::operation::create,
                        .path = path,
                        .rights = std::move(rights),
                        .mode = mode})
            .error;
    }
    std::int32_t remove(const std::string& path)
    {
        return call({.what = zookeeper_store::wire::operation::remove, .path = path}).error;
    }
    std::int32_t log_in(const std::string& user_and_password)
    {
        return call({.what = zookeeper_store::wire::operation::authenticate,
                        .data = user_and_password,
                        .scheme = "digest"})
            .error;
    }

private:
    void send(const std::string& record)
    {
        boost::asio::write(socket_, boost::asio::buffer(zookeeper_store::wire::framed(record)));
    }
    std::string receive()
    {
        std::array<char, 4> length{};
        boost::asio::read(socket_, boost::asio::buffer(length));
        zookeeper_store::wire::jute_reader in({length.data(), length.size()});
        std::string record(static_cast<std::size_t>(in.int32()), '\0');
        boost::asio::read(socket_, boost::asio::buffer(record));
        return record;
    }

    boost::asio::io_context io_;
    boost::asio::ip::tcp::socket socket_{io_};
    std::int32_t last_number_ = 0;
    std::int64_t session_ = 0;
};

} // namespace holdfast::test
