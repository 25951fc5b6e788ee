#pragma once

#include "core/lease_keeper.hpp"

#include <holdfast/options.hpp>

namespace holdfast::core {

// Fills in the defaults. Precondition: `check(options)` has passed.
lease_terms terms_of(const lock_options& options);

} // namespace holdfast::core
