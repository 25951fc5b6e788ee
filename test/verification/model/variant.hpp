#pragma once

#include "verification/model/world.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::model {

// The possible violations, a bit each.
enum violation : std::uint8_t {
    none = 0,
    duplicate = 1, // two leases have the same token
    order = 2,     // a lease that was asked for after another had completed has a smaller token
    stale = 4,     // the fenced register accepts a write older than one that it has accepted
    overlap = 8,   // two leases are valid at once, or one is valid again after another was
    anything = 15,
};

// Deviations from the correct protocol.
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

// The scope of an exploration.
struct scope {
    std::size_t nodes = 3;
    std::array<unsigned, clients> attempts{2, 1};
    std::uint32_t counters = 1; // possible initial counters of a node: a bit for each
    number floor = 0;           // an attempt may have this floor; 0: no attempt has one
    bool tokens_only = false;   // validity is not judged, less is explored: see reduction.cpp
};

struct variant {
    std::string_view name;
    std::string_view what;
    rules how{};
    unsigned breaks = none; // the expected violations; none: the variant is correct
    scope within{};
};

// The first one is the correct protocol.
std::span<const variant> variants() noexcept;

} // namespace holdfast::model
