#pragma once

#include "support/zookeeper_tree.hpp"
#include "verification/stores/zookeeper/connection.hpp"
#include "verification/stores/zookeeper/ensemble.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::zookeeper_simulation {

// A connection to a server, modelled or real: whole records, one after the other.
class wire_end {
public:
    virtual ~wire_end() = default;
    virtual void send(const std::string& record) = 0;
    // None: the server has closed the connection. Throws if nothing comes for too long.
    virtual std::optional<std::string> receive() = 0;
};

class modelled_end final : public wire_end {
public:
    modelled_end(world& w, ensemble& all, std::size_t server);
    ~modelled_end() override;
    void send(const std::string& record) override;
    std::optional<std::string> receive() override;

private:
    world& world_;
    std::shared_ptr<connection> end_;
    std::string in_;
    bool closed_ = false;
};

class real_end final : public wire_end {
public:
    explicit real_end(std::uint16_t port);
    void send(const std::string& record) override;
    std::optional<std::string> receive() override;

private:
    std::string read(std::size_t size);

    boost::asio::io_context io_;
    boost::asio::ip::tcp::socket socket_{io_};
};

// A client that says what it is told to say, and puts into words what it hears. Transactions are
// named by their distance from `base`, and sessions by the number of their talker.
class talker {
public:
    talker(std::unique_ptr<wire_end> end, const std::int64_t& base)
        : end_(std::move(end)),
          base_(base)
    {}

    // The answer in words.
    std::string connect(const zookeeper_store::wire::connect_request& r);
    // In words, all that comes until the answer to this, or the end.
    std::string ask(zookeeper_store::wire::request r);
    // Events that have come, in words.
    std::string events();
    // Whether the server has closed the connection, after what came before.
    std::string end();

    std::int64_t session() const noexcept { return session_; }
    const std::string& password() const noexcept { return password_; }
    std::int64_t last_zxid() const noexcept { return last_zxid_; }
    const zookeeper_store::wire::reply_body& last() const noexcept { return last_; }
    // What the talkers of this server are called.
    std::vector<std::int64_t>* names = nullptr;

private:
    std::string told(const zookeeper_store::wire::node_stat& s) const;
    std::string told(const zookeeper_store::wire::request& r, const std::string& record);
    std::string owner(std::int64_t session) const;

    std::unique_ptr<wire_end> end_;
    const std::int64_t& base_;
    std::int64_t session_ = 0, last_zxid_ = 0;
    std::string password_;
    std::int32_t requests_ = 0;
    zookeeper_store::wire::reply_body last_;
};

} // namespace holdfast::zookeeper_simulation
