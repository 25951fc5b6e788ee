#pragma once

#include <holdfast/backend.hpp>
#include <holdfast/detail/export.hpp>

namespace holdfast {

/// A store inside this process, for unit tests of code that uses locks.
///
/// It fulfils the contract of every backend: exclusion, expiry after the ttl, renewal, release only
/// by the owner. It never fails and needs no network. Lockers whose backends are copies of one
/// value exclude each other; two calls of `memory()` create two stores. Leases have a fencing
/// token, strictly increasing within one store.
HOLDFAST_EXPORT backend memory();

} // namespace holdfast
