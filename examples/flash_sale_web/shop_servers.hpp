#pragma once

#include "shop.hpp"
#include "worker.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/array.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace flash_sale_web {

/// The processes of the shop.
class shop_servers {
public:
    /// Is called when a server tells that late writes were refused: which one, and how many.
    using refusal_handler = std::function<void(std::size_t server, std::int64_t refused)>;

    shop_servers(asio::io_context& io, std::size_t count, const shop_settings& given,
        refusal_handler refused);

    std::size_t count() const { return servers_.size(); }
    /// Returns when each server has told its port.
    asio::awaitable<std::vector<std::uint16_t>> ports();

    bool frozen(std::size_t server) const { return servers_.at(server)->frozen; }
    bool any_frozen() const;
    /// Stops the process between the read and the write of an order if it has one soon, else
    /// wherever it is. After some time lets it go on, and calls `thawed`. False, and nothing
    /// happens, while it is frozen.
    bool freeze(std::size_t server, std::chrono::milliseconds time, std::function<void()> thawed);

    /// The sum of a figure over all servers.
    std::int64_t sum(const char* figure) const;
    /// What the servers say of one node of the locks.
    struct opinion {
        std::size_t connected = 0, quarantined = 0; ///< servers
        std::string reason;                         ///< of one that has trouble with it
    };
    opinion of_node(std::size_t node) const;

    json::array describe() const;

private:
    struct member {
        explicit member(asio::io_context& io) : timer(io) {}
        std::unique_ptr<worker> process;
        std::uint16_t port = 0;
        json::object figures;
        asio::steady_timer timer;
        bool frozen = false;       // from the request on
        bool awaits_write = false; // not stopped yet
    };
    void hear(std::size_t server, const json::object& line);
    static asio::awaitable<void> keep_frozen(
        member& one, std::chrono::milliseconds time, std::function<void()> thawed);

    asio::io_context& io_;
    refusal_handler refused_;
    std::vector<std::unique_ptr<member>> servers_;
};

} // namespace flash_sale_web
