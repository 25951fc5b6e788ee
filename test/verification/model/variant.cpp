#include "verification/model/variant.hpp"

#include <array>

namespace holdfast::model {

namespace {

// Different counters, as earlier attempts leave them.
constexpr scope differing{.attempts{1, 1}, .counters = 0b1111};

constexpr std::array all{
    variant{.name = "right", .what = "the correct protocol"},
    variant{.name = "resent",
        .what = "one client's GRANT requests are sent twice",
        .how{.grants_resent = true},
        .within{.attempts{1, 1}}},
    variant{.name = "raise_by_value",
        .what = "WRITE-BACK checks the value only, but nothing is sent twice",
        .how{.raise_by_value = true},
        .within = differing},
    variant{.name = "refusals_count",
        .what = "a node that refuses counts if its counter is large enough",
        .how{.refusals_count = true},
        .breaks = duplicate,
        .within = differing},
    variant{.name = "raise_unconditional",
        .what = "WRITE-BACK checks nothing",
        .how{.raise_unconditional = true},
        .breaks = duplicate,
        .within = differing},
    variant{.name = "resent_by_value",
        .what = "GRANT is sent twice, and WRITE-BACK checks the value only",
        .how{.raise_by_value = true, .grants_resent = true},
        .breaks = duplicate,
        .within{.attempts{1, 1}, .counters = 0b101}},
    variant{.name = "value_reused",
        .what = "one value for all attempts of a client",
        .how{.value_reused = true},
        .breaks = overlap},
    variant{.name = "published_early",
        .what = "the token is published before the write-back",
        .how{.published_early = true},
        .breaks = duplicate,
        .within = differing},
    variant{.name = "node_forgets",
        .what = "one node loses its data, once",
        .how{.node_forgets = true},
        .breaks = order,
        .within = differing},
    variant{.name = "counter_read_at_use",
        .what = "the token is read from a counter at the time of use",
        .how{.counter_read_at_use = true},
        .breaks = stale,
        .within = differing},
    variant{.name = "extension_creates",
        .what = "an extension creates a missing key",
        .how{.extension_creates = true},
        .breaks = overlap,
        .within = differing},
    variant{.name = "block_unreserved",
        .what = "a grant stores the start of its block, not the end",
        .how{.block_unreserved = true},
        .breaks = duplicate,
        .within = differing},
};

} // namespace

std::span<const variant> variants() noexcept
{
    return all;
}

} // namespace holdfast::model
