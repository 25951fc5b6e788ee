#pragma once

#include "settings.hpp"

namespace flash_sale_web {

/// Starts everything, serves the page until SIGINT or SIGTERM, takes everything down. Returns the
/// exit status: 0, or 1 if something was oversold under the lock.
int run_controller(const settings& wanted);

} // namespace flash_sale_web
