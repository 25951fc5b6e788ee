#pragma once

#include "core/owner_token.hpp"
#include "core/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::redis {

// A baton: a lease that its holder gives to the next waiter of another process. The keys stay as
// they are at all nodes. The message of the queue node gives the lease: see baton_script.
//
// The majority of the keys may end earlier than the key at the queue node, whose ttl the script
// reads. The lag is by how much at most. It is measured by the holder that set or renewed the keys,
// and goes along unchanged until the next renewal.
//
// In fenced mode, the fencing tokens of the lease go along: the new holder has the first one that
// no holder has had. So the ballot counts for all of them, as for holders in one process.
struct baton {
    core::owner_token token{};        // of the keys
    std::chrono::milliseconds left{}; // of the key at the queue node, when the lease was given
    std::chrono::milliseconds lag{};
    std::optional<std::uint64_t> fence{}; // of the new holder, in fenced mode
};

// "<token><left> <lag>", in fenced mode "<token><left> <lag> <fence>": the message without the
// entry of the waiter; the answer of a script. None for another text.
std::optional<baton> read_baton(std::string_view text);

// What a claim knows of its baton.
struct custody {
    core::owner_token place{}; // the claim's own token: that of its entries in queues
    std::size_t node = 0;      // the queue node, whose key says who has the lease
    std::string value{};       // that key's value
    std::chrono::milliseconds lag{};
    bool renewed = false; // or confirmed, any key since: the lag is another one
};

// The custody of a baton that a node has given.
custody custody_of(const baton& given, const core::owner_token& place, std::size_t node);

// The lag and the fencing token as the script wants them.
std::string terms_of(std::chrono::milliseconds lag, std::optional<std::uint64_t> fence);

} // namespace holdfast::redis
