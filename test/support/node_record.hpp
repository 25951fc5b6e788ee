#pragma once

#include "redis/dialect/fence_settings.hpp"
#include "redis/node/fence_scripts.hpp"
#include "redis/node/script_call.hpp"
#include "support/redis_model.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace holdfast::test {

// The value that a node keeps under redis::record_key if it was not restarted: the settings that
// all clients agree on, its run_id, and a time from which it accepts ballots, long ago.
inline std::string node_record(const redis::fence_settings& terms, std::string_view run_id)
{
    using redis::in_ms;
    return std::to_string(in_ms(terms.quarantine)) + " " + std::to_string(in_ms(terms.ahead)) +
           " " + std::to_string(redis::registers) + " " + std::string(run_id) + " 1";
}

// The registers of a node that has accepted the same small ballot for every resource.
inline const sorted_set& node_registers()
{
    thread_local const sorted_set all = [] {
        sorted_set made;
        for (std::size_t i = 0; i < redis::registers; ++i)
            made.put(static_cast<double>(redis::ballots_in_ms), std::to_string(i), {});
        return made;
    }();
    return all;
}

// Gives the node the record and the registers that it would have after long use.
inline void remember(redis_model& node, const redis::fence_settings& terms, std::string_view run_id)
{
    node.store(std::string(redis::record_key), {.value = node_record(terms, run_id)});
    node.store(std::string(redis::registers_key),
        {.is = redis_model::item::kind::sorted_set, .members = node_registers()});
}

} // namespace holdfast::test
