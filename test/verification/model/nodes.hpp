#pragma once

#include "verification/model/variant.hpp"
#include "verification/model/world.hpp"

namespace holdfast::model {

// The commands of a node, and its troubles.

// SET NX. Returns whether the key is granted; it then expires at `until`.
bool set(node& n, attempt a, small until) noexcept;
// ZADD XX GT CH. Returns whether the ballot is accepted.
bool stamp(node& n, small ballot, const rules& how) noexcept;
// Whether stamp() would accept it.
bool accepts(const node& n, small ballot, const rules& how) noexcept;
// FLUSHALL
void flush(node& n) noexcept;
// The script of the greeting. `clock`: of the node; `floor`: the client's estimate.
void open(node& n, small clock, small floor, const scope& s, const rules& how) noexcept;

} // namespace holdfast::model
