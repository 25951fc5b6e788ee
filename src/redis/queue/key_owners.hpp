#pragma once

#include "core/slot_map.hpp"
#include "redis/claim/claim_table.hpp"
#include "redis/dialect/common_calls.hpp"
#include "redis/pool/node_pool.hpp"
#include "redis/quorum/owner_survey.hpp"

namespace holdfast::redis {

// Asks all nodes for the owner of the key of a queued claim, at most once in a while. An answer
// counts as long as the claim waits. See owner_survey.hpp.
class key_owners {
public:
    key_owners(claim_table& claims, node_pool& nodes, common_calls& calls) noexcept
        : claims_(claims),
          nodes_(nodes),
          calls_(calls)
    {}

    void ask(core::claim_id id, core::time_point now);
    // The claim that the answer is about, or 0.
    core::claim_id on_reply(std::size_t node, const request& r, reply answer);
    // What is known by now; nullptr if no survey is under way.
    const owner_survey* find(const claim& c) const noexcept;
    void end(claim& c) noexcept;
    // Whether the queue node's key was handed off or set a moment ago, by what is left of it.
    static bool may_change(const claim& c, core::time_point now) noexcept;

private:
    struct survey {
        core::claim_id claim = 0;
        owner_survey owners;
    };

    claim_table& claims_;
    node_pool& nodes_;
    common_calls& calls_;
    core::slot_map<survey> surveys_;
};

} // namespace holdfast::redis
