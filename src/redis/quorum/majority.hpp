#pragma once

#include <algorithm>
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
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(majority(nodes) - 1);
    std::nth_element(values.begin(), nth, values.end(), before);
    return *nth;
}

} // namespace holdfast::redis
