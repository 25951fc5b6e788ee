#pragma once

#include <holdfast/backend.hpp>

namespace holdfast {

/// A store inside this process, for unit tests of code that uses locks.
///
/// Keeps the contract of every backend: exclusion, expiry after the ttl, renewal, release by the
/// owner alone. It never fails and needs no network. Lockers whose backends are copies of one
/// value exclude each other; two calls of `memory()` make two stores. Leases carry a fencing
/// token, strictly increasing within one store.
backend memory();

} // namespace holdfast
