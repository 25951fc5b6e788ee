#pragma once

#include "verification/model/round_book.hpp"
#include "verification/model/world.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::model {

// A packed world: a word for each node, three for the clients.
using packed = std::array<std::uint32_t, most_nodes + 3>;

constexpr std::size_t words(std::size_t nodes) noexcept
{
    return nodes + 3;
}

world unpack(const packed& p, std::size_t nodes) noexcept;

// The representative of all worlds that differ only in the names of nodes and, if `swap_clients`
// (the clients have the same number of attempts), of clients. The protocol does not depend on
// names.
packed canonical(const world& w, std::size_t nodes, bool swap_clients, round_book& rounds);

} // namespace holdfast::model
