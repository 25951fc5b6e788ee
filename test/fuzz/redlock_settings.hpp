#pragma once

#include "core/time.hpp"
#include "redis/node/node_settings.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::fuzz {

inline constexpr core::duration connect_timeout = std::chrono::seconds(2);
inline constexpr core::duration silence_timeout = std::chrono::seconds(10);

inline std::vector<redis::node_settings> redlock_settings(std::size_t count)
{
    using namespace std::chrono_literals;
    std::vector<redis::node_settings> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = "node" + std::to_string(i);
        all[i] = {.where = {.host = name, .port = 6379, .path = {}},
            .name = name,
            .user = {},
            .password = {},
            .client_name = {},
            .connect_timeout = connect_timeout,
            .silence_timeout = silence_timeout,
            .reconnect_min = 50ms,
            .reconnect_max = 2s,
            .max_requests = 32,
            .max_bytes = 16 * 1024};
    }
    return all;
}

} // namespace holdfast::fuzz
