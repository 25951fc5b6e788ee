#pragma once

#include "verification/model/packing.hpp"
#include "verification/model/protocol.hpp"

#include <string>

namespace holdfast::model {

// A step in words. Attempts are named a, b, c and d, nodes n1, n2, ….
std::string describe(const step& s, const world& before, const world& after, const naming& names);

// Violations in words.
std::string names_of(unsigned violated);

} // namespace holdfast::model
