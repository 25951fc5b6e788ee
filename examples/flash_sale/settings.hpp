#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flash_sale {

/// What stores the lock.
enum class store_kind : std::uint8_t { redis, etcd, zookeeper, postgresql, mysql };

struct settings {
    store_kind store = store_kind::redis;
    unsigned processes = 4;
    unsigned coroutines = 250; // in each process, at the same time
    unsigned buyers = 2'000;   // in all
    unsigned stock = 500;
    unsigned nodes = 5;
    unsigned think_ms = 10; // between reading the stock and writing it back
    bool lock = true;
    bool fenced = false; // leases have tokens, and the shop's server refuses stale ones
    bool freeze = false; // one process is stopped between its read and its write
    bool faults = true;
};

// The settings that the parent passes to one worker process.
struct worker_settings {
    store_kind store = store_kind::redis;
    std::uint16_t stock_port = 0;
    std::vector<std::string> nodes; // none: sell without a lock
    unsigned coroutines = 0;
    unsigned first_buyer = 0;
    unsigned buyers = 0;
    unsigned think_ms = 0;
    bool fenced = false;
    bool freezes = false;
};

} // namespace flash_sale
