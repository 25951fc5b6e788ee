#pragma once

#include "redis/claim/claim_table.hpp"
#include "redis/dialect/common_calls.hpp"
#include "redis/pool/node_pool.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <vector>

namespace holdfast::redis {

// Has the queue node of a claim tell us when the claim's key changes. A client that does not use
// the queue notifies no client when it releases. The node does, but only once, and each client that
// asks: so only the first in the queue asks.
class key_tracking {
public:
    key_tracking(claim_table& claims, node_pool& nodes, common_calls& calls) noexcept
        : claims_(claims),
          nodes_(nodes),
          calls_(calls)
    {}

    void begin(core::claim_id id, std::size_t node, core::time_point now);
    // The node tells for how long the key of a claim lasts. True if it is free.
    bool on_reply(std::size_t node, core::claim_id id, reply answer, core::time_point now);
    // The claims whose keys have changed according to a push.
    std::vector<core::claim_id> changed_by(reply push) const;
    void forget(core::claim_id id) noexcept;

private:
    claim_table& claims_;
    node_pool& nodes_;
    common_calls& calls_;
    boost::unordered_flat_map<std::uint64_t, core::claim_id> tracked_; // by hash of the resource
};

} // namespace holdfast::redis
