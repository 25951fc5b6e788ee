#pragma once

#include "redis/dialect/fence_settings.hpp"
#include "redis/node/script_call.hpp"

#include <string>
#include <string_view>

namespace holdfast::test {

// The value that a node keeps under redis::record_key if it was not restarted: the settings that
// all clients agree on, its run_id, and a time from which it grants, long ago.
inline std::string node_record(const redis::fence_settings& terms, std::string_view run_id)
{
    using redis::in_ms;
    return std::to_string(in_ms(terms.quarantine)) + " " + std::to_string(in_ms(terms.ahead)) +
           " " + std::to_string(in_ms(terms.counter_lifetime)) + " " + std::string(run_id) + " 1";
}

} // namespace holdfast::test
