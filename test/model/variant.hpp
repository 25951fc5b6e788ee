#pragma once

#include "model/world.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::model {

// What can be violated; a bit each.
enum violation : std::uint8_t {
    none = 0,
    duplicate = 1, // two leases were given the same token
    order = 2,     // a lease that was invoked after another had completed has a smaller token
    stale = 4,     // the fenced register accepts a write older than one that it has accepted
    overlap = 8,   // two leases are valid at once, or one goes on after another has been valid
    anything = 15,
};

// What differs from the protocol.
struct rules {
    bool refusals_count = false;
    bool raise_unconditional = false;
    bool raise_by_value = false;
    bool grants_resent = false;
    bool value_reused = false;
    bool published_early = false;
    bool node_forgets = false;
    bool counter_read_at_use = false;
    bool extension_creates = false;
    bool block_unreserved = false;
};

// How much is explored.
struct scope {
    std::size_t nodes = 3;
    std::array<unsigned, clients> attempts{2, 1};
    std::uint32_t counters = 1; // with which a node may begin: a bit for each
    number floor = 0;           // with which an attempt may come; 0: none does
    bool tokens_only =
        false; // leases are not judged, and less is to be explored: see reduction.cpp
};

struct variant {
    std::string_view name;
    std::string_view what;
    rules how{};
    unsigned breaks = none; // what is looked for; none: it is right, and nothing may be found
    scope within{};
};

// The first one is the protocol as it is.
std::span<const variant> variants() noexcept;

} // namespace holdfast::model
