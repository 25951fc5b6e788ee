#pragma once

#include "verification/model/baton/world.hpp"

#include <algorithm>
#include <cstddef>

namespace holdfast::model::baton {

// What a process knows of its lease.

inline bool came_by_baton(const client& c, std::size_t p) noexcept
{
    return c.token != name_of(p);
}

// The value of its key at a node.
inline value value_at(const client& c, std::size_t p, std::size_t at) noexcept
{
    if (at == queue_node && came_by_baton(c, p))
        return {.token = c.token, .place = name_of(p), .lag = c.lag};
    return {.token = c.token};
}

// The end of the lease, by its clock; 0: none.
inline small valid_until(const client& c) noexcept
{
    // The second largest of three.
    const auto [a, b, d] = c.until;
    return std::max(std::min(a, b), std::min(std::max(a, b), d));
}

// Whether no request about the keys is under way.
inline bool is_settled(const client& c) noexcept
{
    for (const renewal& each : c.renewals) {
        if (each.is != renewal::status::none)
            return false;
    }
    return true;
}

} // namespace holdfast::model::baton
