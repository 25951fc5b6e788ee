#pragma once

#include <holdfast/options.hpp>

#include <chrono>

namespace holdfast::test {

/// Of leases that linger for longer than any test.
inline lock_options sticky()
{
    using namespace std::chrono_literals;
    lock_options options;
    options.ttl = 30s;
    options.wait = 60s;
    options.linger = 5min;
    return options;
}

} // namespace holdfast::test
