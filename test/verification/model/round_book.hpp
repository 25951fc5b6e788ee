#pragma once

#include "redis/quorum/ballot_round.hpp"
#include "verification/model/word_set.hpp"
#include "verification/model/world.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace holdfast::model {

// An order of the nodes: the first is `order[0]`, and so on.
using node_order = std::array<std::uint8_t, most_nodes>;

// All ballot_rounds that have occurred, by number. A state keeps only the number, and the effect of
// an input on a round is computed once.
class round_book {
public:
    using id = std::uint32_t; // 0: a round without any input

    enum class input : std::uint8_t {
        begin,    // value: the ballot. All nodes are asked for the key and sent the ballot
        propose,  // value: the ballot
        publish,  // the lease has the current ballot
        granted,  // the node holds our key
        refused,  // it does not
        lost,     // it holds our key no longer
        ask,      // it is asked for the key again, and sent the ballot if it was not
        accepted, // value: the number of the ballot that the node has accepted
        rejected, // value: the number of the ballot that the node has refused
    };

    explicit round_book(std::size_t nodes);

    // The next round, and the nodes that are sent the current ballot as soon as it says so: a bit
    // each.
    struct outcome {
        id next = 0;
        std::uint8_t sent = 0;
    };
    outcome apply(id round, input what, std::size_t node = 0, unsigned value = 0);

    // The same round with the nodes in another order.
    id reordered(id round, const node_order& order);

    const redis::ballot_round& at(id round) const noexcept { return rounds_[round].what; }
    bool counts(id round, std::size_t node) const noexcept
    {
        return at(round).of(node) == redis::vote::granted;
    }
    // What can be seen of one node, as a number.
    std::uint8_t view(id round, std::size_t node) const noexcept;

    std::size_t size() const noexcept { return rounds_.size(); }

private:
    struct entry {
        redis::ballot_round what;
        id parent = 0; // the previous round, and then the input
        input by = input::begin;
        std::uint8_t node = 0, value = 0;
    };

    std::size_t nodes_;
    std::vector<entry> rounds_;
    word_set numbers_; // of the rounds, by their bytes
    std::unordered_map<std::uint64_t, outcome> known_;
    std::unordered_map<std::uint64_t, id> reordered_;
};

} // namespace holdfast::model
