#pragma once

#include "settings.hpp"

namespace flash_sale {

/// Starts the servers and the workers, breaks some of the servers, reports, stops everything.
/// Returns the exit status: 0 only if every item was sold once, and to one buyer.
int run_sale(const settings& wanted);

} // namespace flash_sale
