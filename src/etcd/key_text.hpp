#pragma once

#include "core/inspection.hpp"

#include <holdfast/inspect.hpp>

#include <string>
#include <string_view>

namespace holdfast::etcd_store {

// The value of a key, which tells people whose it is:
// `<client name> <process id>@<host> <program> <version> <start of the locker>`.
std::string value_of(std::string_view client_name, const core::client_identity& self);

// Whose a key is. `token`: its name behind that of its queue.
lock_owner owner_of(std::string_view token, std::string_view value);

} // namespace holdfast::etcd_store
