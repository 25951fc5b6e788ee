#pragma once

#include "lock_nodes.hpp"
#include "news.hpp"
#include "page_server.hpp"
#include "sale.hpp"
#include "shop_servers.hpp"

namespace flash_sale_web {

/// Does what the buttons of the page ask for, and tells it as news.
class buttons {
public:
    buttons(lock_nodes& nodes, shop_servers& servers, sale& selling, news& log)
        : nodes_(nodes),
          servers_(servers),
          sale_(selling),
          news_(log)
    {}

    /// `{"action":"kill_node","node":0}` and so on. 204: done; 400: no such action; 409: not now.
    page_server::answer press(const json::object& asked);

private:
    page_server::answer break_node(std::string_view action, std::size_t node);
    page_server::answer freeze(std::size_t server);
    page_server::answer sell_by(strategy how);
    page_server::answer compare();

    lock_nodes& nodes_;
    shop_servers& servers_;
    sale& sale_;
    news& news_;
};

} // namespace flash_sale_web
