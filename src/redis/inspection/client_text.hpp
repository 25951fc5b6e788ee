#pragma once

#include "core/inspection.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::redis {

// A client record: what a locker tells about itself.
struct client_details {
    client_info info;
    std::string channel; // on which its connections listen
};

// The record as a text: a line for each value, "name=value". Control characters are replaced.
std::string text_of_client(
    const core::client_identity& self, std::string_view client_name, std::string_view channel);

// Reads such a text; none if it is no client record. Unknown lines are skipped, values are cut off.
std::optional<client_details> read_client(std::string_view text);

} // namespace holdfast::redis
