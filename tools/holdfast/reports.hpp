#pragma once

#include "holdfast/console.hpp"

#include <holdfast/inspect.hpp>
#include <holdfast/stats.hpp>

#include <boost/json/object.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

// What the library reports, in words and as JSON. The words are safe for a terminal.

/// "host, process 17 (program), client name"; for a client without a record, the id of its locker.
/// "(unconfirmed)" behind it: see `lock_owner::client_confirmed`.
std::string in_words(const lock_owner& owner);
/// The same of the owner of a key that a majority of the nodes has, or has not.
std::string in_words(const lock_owner& owner, bool held);

/// How long ago that was: "4m05s". Not below 0.
std::string age_of(
    std::chrono::system_clock::time_point since, std::chrono::system_clock::time_point now);

/// A length of time in at most six characters: "350ms", "12.5s", "4m05s", "2h03m", "3d04h".
std::string brief(std::chrono::milliseconds length);

/// A latency: "0.35 ms".
std::string milliseconds_of(std::chrono::nanoseconds length);

/// What is left of a lease: as `brief()`, "no ttl", or "-".
std::string time_left(std::optional<std::chrono::milliseconds> left, bool without_ttl);

std::string_view name_of(key_state state);
std::string_view name_of(guarantee what);

/// JSON is UTF-8. The text, with U+FFFD for bytes that are not.
std::string utf8(std::string_view text);

/// Adds `resource`, and for a name that is no UTF-8 `resource_hex`.
void add_name(boost::json::object& to, std::string_view resource);

boost::json::object json_of(const lock_owner& owner);
boost::json::object json_of(const resource_report& report);
boost::json::object json_of(const listed_lock& lock);

/// The latency, the counters and, if the node is in trouble, the reason.
boost::json::object json_of(const node_stats& node);

} // namespace holdfast::cli
