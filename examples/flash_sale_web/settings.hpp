#pragma once

#include <cstdint>

namespace flash_sale_web {

/// What the command line says.
struct settings {
    std::uint16_t port = 0;  ///< of the page; 0: any free port
    unsigned servers = 4;    ///< processes of the shop
    unsigned nodes = 5;      ///< Redis servers that store the locks
    unsigned buyers = 48;    ///< orders under way at the same time
    unsigned rate = 0;       ///< orders a second; 0: each buyer orders again when it is answered
    unsigned stock = 2'000;  ///< items of one round of the sale
    unsigned think_us = 500; ///< between reading the stock and writing it
    unsigned seconds = 4;    ///< for each strategy that is measured
    bool only_strategies = false; ///< measure, print the table, end
};

} // namespace flash_sale_web
