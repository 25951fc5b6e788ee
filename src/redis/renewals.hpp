#pragma once

#include "core/slot_map.hpp"
#include "redis/claim/claim_table.hpp"
#include "redis/dialect/dialect.hpp"
#include "redis/pool/node_pool.hpp"

#include <span>
#include <vector>

namespace holdfast::redis {

// Renews granted claims, many with one request, and repairs keys that nodes have lost.
class renewals {
public:
    // A node does nothing else while it runs a script.
    static constexpr std::size_t default_batch = 100;

    // `largest_batch`: the most keys in one request; 1 if not all have the same slot of a cluster.
    renewals(claim_table& claims, node_pool& nodes, dialect& d,
        std::size_t largest_batch = default_batch) noexcept
        : claims_(claims),
          nodes_(nodes),
          dialect_(d),
          largest_batch_(largest_batch)
    {}

    // `again`: even where an earlier renewal is still unanswered.
    void renew(std::span<const core::claim_id> claims, bool again, core::time_point now);
    // Returns the claims whose validity may have changed; valid until the next call.
    std::span<const core::claim_id> on_renewed(
        std::size_t node, const request& r, reply answer, core::time_point now);
    bool say_again(std::size_t node, const request& r, core::time_point now);
    // The claims of a renewal that is under way.
    std::span<const core::claim_id> claims_of(const request& r) noexcept;
    // A renewal has been answered, or never will be.
    void end(std::size_t node, core::slot_id renewal);

    // A node has answered a repair; `unknown`: it never will. False if the claim is gone.
    bool on_repaired(std::size_t node, const request& r, vote v, core::time_point now);

private:
    // One request to one node: its reply has a number for each claim, in order.
    struct batch {
        std::vector<core::claim_id> claims;
    };

    void send(std::size_t node, std::span<const core::claim_id> claims, bool by_text,
        core::time_point now);
    void repair(std::size_t node, core::claim_id id, core::time_point now);

    claim_table& claims_;
    node_pool& nodes_;
    dialect& dialect_;
    const std::size_t largest_batch_;
    core::slot_map<batch> batches_;
    std::vector<core::claim_id> due_, heard_;
    std::vector<const claim*> encoded_;
};

} // namespace holdfast::redis
