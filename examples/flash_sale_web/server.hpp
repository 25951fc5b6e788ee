#pragma once

#include <string>

namespace flash_sale_web {

/// One process of the shop, on a port of its own, which it prints. `POST /orders/<strategy>/<item>/
/// <buyer>` takes one of the item: 200 sold, 409 sold out, 503 try again. `GET /metrics`: for
/// Prometheus. Prints its figures five times a second. Runs until its parent ends it.
///
/// `{"announce_next_write":true}` on its input: it prints `{"at_write":true}` when an order is
/// about to write, and waits a moment before it does.
///
/// `given`: a JSON object, made by `server_settings()`. Returns the exit status.
int run_server(const std::string& given);

struct shop_settings;
std::string server_settings(const shop_settings& from);

} // namespace flash_sale_web
