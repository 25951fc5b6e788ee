#pragma once

#include "core/backend.hpp"
#include "core/lease_keeper.hpp"

#include <holdfast/options.hpp>

namespace holdfast::core {

// Fills in the defaults. Precondition: `check(options)` has passed.
lease_params terms_of(const lock_options& options);

// The polling windows of a resource that is locked on these terms.
polling_params polling_of(const lease_params& terms) noexcept;

} // namespace holdfast::core
