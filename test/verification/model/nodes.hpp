#pragma once

#include "verification/model/variant.hpp"
#include "verification/model/world.hpp"

// The scripts that nodes run, each of them atomic.
namespace holdfast::model {

// Whether the key has the value of this attempt.
bool holds(const node& n, attempt a, const rules& how) noexcept;

// Returns the start of the block; 0: refused, an attempt (perhaps this one) has the key.
number grant(node& n, attempt a, number floor, const rules& how);

// Returns whether the key is still that of the grant after which the counter was `from`.
bool write_back(node& n, attempt a, number from, number to, const rules& how) noexcept;

// Returns whether the key is there. Repairs a counter that is behind the end of the lease's block.
bool extend(node& n, attempt a, number end_of_block, const rules& how) noexcept;

// Returns whether the key was there.
bool remove(node& n, attempt a, const rules& how) noexcept;

} // namespace holdfast::model
