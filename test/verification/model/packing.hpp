#pragma once

#include "verification/model/round_book.hpp"
#include "verification/model/word_set.hpp"
#include "verification/model/world.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::model {

// The names of nodes and attempts, by their place in a world.
struct naming {
    node_order nodes{0, 1, 2, 3, 4};
    std::array<std::uint8_t, most_attempts> attempts{0, 1, 2, 3};
};

// Packs worlds into words: one for each node with its connections, one for each attempt, and one
// for the rest. The word of a node or an attempt is its number among all that have occurred.
class packing {
public:
    packing(std::size_t nodes, std::size_t attempts, round_book& rounds);

    std::size_t width() const noexcept { return nodes_ + attempts_ + 1; }

    // Worlds that differ only in the order of nodes and attempts are alike. This is one like `w`;
    // not always the same one, which only costs states. `names` are moved with the nodes and
    // attempts.
    words canonical(const world& w, naming& names);
    world unpack(const std::uint32_t* from) const;

    std::size_t bytes() const noexcept { return columns_.bytes() + clients_.bytes(); }

private:
    std::uint64_t rank(const client& c) const noexcept;
    world ordered(const world& w, naming& names) const noexcept;

    std::size_t nodes_, attempts_;
    round_book& rounds_;
    word_set columns_, clients_;
};

} // namespace holdfast::model
