#pragma once

#include "support/zookeeper_tree.hpp"
#include "zookeeper/wire/jute.hpp"
#include "zookeeper/wire/messages.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace holdfast::zookeeper_simulation {

class server;

// A connection of a client, at the server: requests are answered in order.
class connection : public std::enable_shared_from_this<connection> {
public:
    connection(server& of, std::uint64_t id) : server_(of), id_(id) {}

    // What goes to the client, and that the server closes the connection.
    std::function<void(std::string)> on_output;
    std::function<void()> on_close;

    void receive(std::string_view bytes);
    // The client has closed it, or the server does.
    void close();

    std::uint64_t id() const noexcept { return id_; }
    std::int64_t session() const noexcept { return session_; }
    void set_session(std::int64_t session) noexcept { session_ = session; }

    // For the server. The session has been created or found, or not.
    void begin(bool valid);
    // What it has asked for is applied.
    void committed(const test::zookeeper_change& c, const test::zookeeper_tree::answer& a);
    void synced();
    void tell(const test::zookeeper_tree::event& e);

private:
    void connect(std::string_view record);
    void take(std::string_view record);
    void answer_reads();
    void reply(const zookeeper_store::wire::request& to, std::int32_t error,
        const zookeeper_store::wire::reply_body& body);
    void watch(const zookeeper_store::wire::request& r, std::int32_t error);
    void put(const std::string& record);

    server& server_;
    const std::uint64_t id_;
    zookeeper_store::wire::frame_reader in_{zookeeper_store::wire::longest_record};
    enum class stage : std::uint8_t { is_new, connects, serves, closed } now_ = stage::is_new;
    std::int64_t session_ = 0;
    std::int32_t timeout_ms_ = 0;
    std::deque<zookeeper_store::wire::request> waiting_;
    std::set<std::string, std::less<>> watched_, watched_children_;
};

// What a client proves itself with, when it comes with a session.
std::string password_of(std::int64_t session);

} // namespace holdfast::zookeeper_simulation
