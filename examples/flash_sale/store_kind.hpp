#pragma once

#include "settings.hpp"

#include <holdfast/backend.hpp>

#include <string>

namespace flash_sale {

/// The word for it on the command line.
std::string name_of(store_kind kind);

/// Throws `std::invalid_argument` if there is no such store, or this program was built without it.
store_kind store_named(const std::string& name);

/// Whether it is one server, for which no other one stands in.
bool is_single(store_kind kind);

/// The store of the locks of a worker. Precondition: there are nodes.
holdfast::backend store_of(const worker_settings& given);

} // namespace flash_sale
