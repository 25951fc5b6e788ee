#pragma once

#include "load.hpp"

#include <cstdint>
#include <vector>

namespace benchmark {

// The limit that the wire sets: the bytes that an acquire and a release of the library are on the
// wire, without the library. Nothing that its rules allow to leave out is waited for:
//
// - All commands are encoded beforehand, with one token for each resource instead of a fresh one:
//   SET to all nodes, then the release script to all but one, and to that one (another for each
//   resource in turn) the script that looks for others who wait.
// - A resource goes on as soon as a majority has answered: then its deletions leave, and after a
//   majority of those its next SETs, behind the deletions on each connection. Nobody waits for the
//   other nodes, nor for other resources.
// - One connection a node, one thread, epoll. What becomes due in one turn of the loop leaves in
//   one write a node.
// - Replies are matched to resources by their order and counted; all that is looked at is whether
//   one is an error, which ends the program. No key expires, nothing is parsed, checked or renewed.
result run_wire_limit(const std::vector<std::uint16_t>& ports, const load& wanted);

} // namespace benchmark
