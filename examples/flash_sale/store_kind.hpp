#pragma once

#include "settings.hpp"

#include <holdfast/backend.hpp>

#include <chrono>
#include <string>

namespace flash_sale {

/// The word for it on the command line.
std::string name_of(store_kind kind);

/// Throws `std::invalid_argument` if there is no such store, or this program was built without it.
store_kind store_named(const std::string& name);

/// Whether it is one server, for which no other one stands in.
bool is_single(store_kind kind);

/// Short, so that a crashed process does not delay the sale for long. But longer than the election
/// of a new leader takes, or the start of a server; in ZooKeeper, as long as a session.
std::chrono::seconds shortest_ttl(store_kind kind);

/// The store of the locks of a worker. Precondition: there are nodes.
holdfast::backend store_of(const worker_settings& given);

} // namespace flash_sale
