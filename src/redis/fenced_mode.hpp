#pragma once

#include "redis/fence_clock.hpp"
#include "redis/fence_settings.hpp"
#include "redis/fenced_calls.hpp"
#include "redis/token_supply.hpp"

#include <array>

namespace holdfast::redis {

// What redlock_core has in addition in fenced mode.
struct fenced_mode {
    explicit fenced_mode(const fence_settings& s)
        : settings(s),
          calls(s),
          clock(s.ahead, s.furthest())
    {
        quarantine_ends.fill(core::long_ago);
    }

    fence_settings settings;
    fenced_calls calls;
    fence_clock clock;
    token_supply supply;
    std::array<core::time_point, max_nodes> quarantine_ends{}; // of each node, by its own word
};

} // namespace holdfast::redis
