#pragma once

#include "verification/model/baton/world.hpp"
#include "verification/model/word_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::model::baton {

// The names of nodes, by their place in a world.
struct naming {
    std::array<std::uint8_t, node_count> nodes{0, 1, 2};
};

// Packs worlds into words: one for each process, its number among all that have occurred, and two
// for the rest.
class packing {
public:
    packing() : clients_(client_words) {}

    std::size_t width() const noexcept { return process_count + 2; }

    // The nodes without the queue may change places. `names` are moved with them.
    words canonical(const world& w, naming& names);
    world unpack(const std::uint32_t* from) const;

    std::size_t bytes() const noexcept { return clients_.bytes(); }

private:
    static constexpr std::size_t client_words = 4;

    words pack(const world& w);

    word_set clients_;
};

} // namespace holdfast::model::baton
