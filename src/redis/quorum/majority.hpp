#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace holdfast::redis {

inline constexpr std::size_t max_nodes = 15;

// How many grants make a lease. Two majorities always have a node in common, and that node grants
// only once: mutual exclusion rests on this alone.
constexpr std::size_t majority(std::size_t nodes) noexcept
{
    return nodes / 2 + 1;
}

// How many nodes must fail to grant before a majority is out of reach. With an even number this is
// less than a majority: of four nodes, two can block, and a tie is a refusal.
constexpr std::size_t blocking(std::size_t nodes) noexcept
{
    return nodes - majority(nodes) + 1;
}

// The largest value that a majority of the nodes reaches, or the first one in another order.
// Changes the order of the values. Precondition: there are values of a majority at least.
template <class Value, class Before = std::greater<>>
Value majority_value(std::span<Value> values, std::size_t nodes, Before before = {})
{
    // Insertion: a general selection costs more for so few values.
    for (std::size_t i = 1; i < values.size(); ++i) {
        const Value each = values[i];
        std::size_t place = i;
        for (; place != 0 && before(each, values[place - 1]); --place)
            values[place] = values[place - 1];
        values[place] = each;
    }
    return values[majority(nodes) - 1];
}

} // namespace holdfast::redis
