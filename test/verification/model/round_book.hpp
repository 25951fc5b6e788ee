#pragma once

#include "redis/quorum/token_round.hpp"
#include "verification/model/world.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace holdfast::model {

// An order of the nodes: the first is `order[0]`, and so on.
using node_order = std::array<std::uint8_t, most_nodes>;

// All token_rounds that have occurred, by number. A state keeps only the number, and the effect of
// an input on a round is computed once.
class round_book {
public:
    using id = std::uint16_t; // 0: none

    enum class input : std::uint8_t { refused, raise_ok, raise_lost, granted };

    explicit round_book(std::size_t nodes);

    static constexpr id fresh = 1; // a round without any input

    // The next round, the nodes that now need a write-back, and the value to write back.
    struct outcome {
        id next = 0;
        std::uint8_t raises = 0; // a bit for each node
        number raise_to = 0;
    };
    outcome apply(id round, input what, std::size_t node, number start = 0);

    // The same round with the nodes in another order.
    id reordered(id round, const node_order& order);

    number token(id round) const noexcept { return rounds_[round].token; }
    bool acquired(id round) const noexcept { return rounds_[round].acquired; }
    bool counts(id round, std::size_t node) const noexcept
    {
        return (rounds_[round].counting & bit_of(node)) != 0;
    }
    number start(id round, std::size_t node) const noexcept
    {
        return static_cast<number>(rounds_[round].views[node] & largest_token);
    }
    // The round's whole state of one node, as a number.
    std::uint8_t view(id round, std::size_t node) const noexcept
    {
        return rounds_[round].views[node];
    }

    std::size_t size() const noexcept { return rounds_.size() - 1; }

private:
    static constexpr std::size_t inputs = 3 * most_nodes + most_nodes * (largest_token + 1);

    struct entry {
        redis::token_round what;
        id parent = 0; // the previous round, and then the input
        input by = input::refused;
        std::uint8_t node = 0;
        number start = 0;

        number token = 0;
        bool acquired = false;
        std::uint8_t counting = 0;
        std::array<std::uint8_t, most_nodes> views{};

        std::array<outcome, inputs> next{};
        std::array<id, 256> reordered{}; // by the order, two bits a node
    };

    id intern(const redis::token_round& what, id parent, input by, std::size_t node, number start);

    std::size_t nodes_;
    std::vector<entry> rounds_;
    std::unordered_map<std::uint64_t, id> ids_; // by the observable state of a round
};

} // namespace holdfast::model
