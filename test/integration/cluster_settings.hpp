#pragma once

#include "support/run.hpp"

#include <holdfast/holdfast.hpp>

#include <chrono>

namespace holdfast::test {

// Generous: busy machines.
inline constexpr auto patience = 45s;

inline redlock_options quick_options()
{
    redlock_options options;
    options.node_timeout = 500ms;
    options.connect_timeout = 1s;
    options.reconnect_min = 20ms;
    options.reconnect_max = 200ms;
    return options;
}

inline lock_options with_ttl(std::chrono::milliseconds ttl)
{
    lock_options options;
    options.ttl = ttl;
    return options;
}

} // namespace holdfast::test
