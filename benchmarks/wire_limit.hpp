#pragma once

#include "load.hpp"

#include <cstdint>
#include <vector>

namespace benchmark {

// The wire limit: sends the same bytes as an acquire and a release of the library, but without the
// library. It waits for as little as the library's rules allow:
//
// - All commands are encoded beforehand, with one token per resource instead of a new one per lock:
//   SET to all nodes, then the release script to all nodes but one. That one, which differs from
//   resource to resource, gets the script that hands the key off to the next waiter.
// - A resource goes on as soon as a majority has answered: then it sends its deletions, and after a
//   majority of those its next SETs, after the deletions on each connection. It does not wait for
//   the other nodes or for other resources.
// - One connection per node, one thread, epoll. All commands of one turn of the loop are sent in
//   one write per node.
// - Replies are matched to resources by their order and counted. Each must have the bytes of a key
//   that was granted or deleted; others end the program. No key expires; nothing is renewed.
result run_wire_limit(const std::vector<std::uint16_t>& ports, const load& wanted);

} // namespace benchmark
