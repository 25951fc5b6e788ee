#pragma once

#include "model/round_book.hpp"
#include "model/world.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::model {

// A world in few bits: a word for each node, three for the clients.
using packed = std::array<std::uint32_t, most_nodes + 3>;

constexpr std::size_t words(std::size_t nodes) noexcept
{
    return nodes + 3;
}

world unpack(const packed& p, std::size_t nodes) noexcept;

// One of all the worlds that differ in the names of nodes and, if the clients have as many attempts
// each, of clients: the same for all of them. Nothing in the protocol depends on names.
packed canonical(const world& w, std::size_t nodes, bool swap_clients, round_book& rounds);

} // namespace holdfast::model
