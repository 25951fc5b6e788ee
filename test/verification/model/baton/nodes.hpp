#pragma once

#include "verification/model/baton/world.hpp"

#include <cstddef>

namespace holdfast::model::baton {

// The scripts of the queue node: see scripts.hpp of the library.

enum class place_answer : std::uint8_t { waits, granted, has_baton };

// enqueue_script. `again`: its ARGV[6].
place_answer enqueue(world& w, std::size_t p, bool again, small ttl) noexcept;

// What pass_on_script and release_script do with a key that is to be deleted: the next waiter gets
// it, if there is one and it is the queue node's.
void hand_off(world& w, std::size_t at) noexcept;

// Removes the place of the process.
void leave(world& w, std::size_t p) noexcept;

} // namespace holdfast::model::baton
