#pragma once

#include "core/connection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::redis {

// A member of a cluster sends a request elsewhere, because of the slot of its keys.
struct redirection {
    bool asks = false; // the slot is on its way and the keys are not here; else it has moved
    std::uint32_t slot = 0;
    core::address to{};
};

// Reads the text of an error: "ASK 3999 host:port", or MOVED. Without a host it is `asked`, the
// host of the member that has answered. None if it is another error.
std::optional<redirection> read_redirection(std::string_view error_text, const std::string& asked);

} // namespace holdfast::redis
