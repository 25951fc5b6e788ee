#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <string>

namespace holdfast::redis {

// What a node has told about itself in its greeting.
struct server_info {
    std::string run_id;         // distinguishes servers; empty if the node does not report it
    std::uint64_t identity = 0; // of the server, independent of the address it was reached by
    bool keeps_queue = false;   // for us: it tells us when our turn has come
    bool tracks = false;        // it tells us, on request, once, when a key changes
    // For a node of fenced mode: its clock, in us since the epoch, and when it was asked for it.
    std::int64_t clock_us = 0;
    core::time_point clock_asked{};
};

} // namespace holdfast::redis
