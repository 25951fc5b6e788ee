#pragma once

#include "verification/model/baton/packing.hpp"
#include "verification/model/baton/protocol.hpp"

#include <string>

namespace holdfast::model::baton {

// A step in words. Processes are named a, b and c, nodes q (which has the queue), n1 and n2.
std::string describe(const step& s, const world& before, const world& after, const naming& names);

// Violations in words.
std::string names_of(unsigned violated);

} // namespace holdfast::model::baton
