#pragma once

#include "settings.hpp"

namespace flash_sale {

/// One process of the shop: serves its buyers with many coroutines at once, and prints one line for
/// each buyer. Returns the exit status.
int run_worker(const worker_settings& given);

} // namespace flash_sale
