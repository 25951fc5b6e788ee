#pragma once

#include "redis/claim/claim_table.hpp"
#include "redis/dialect/common_calls.hpp"
#include "redis/pool/node_pool.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::redis {

// Finds out when other processes begin to wait for the resource of a claim that we hold. The node
// that hands the key off when the claim is released looks whether there is a queue, and tracks the
// queue's key for us from then on. It tells each change once. If it has refused us the key, another
// process has it there, and waits for the other nodes.
//
// A notice is a hint, and ends with the connection. A waiter at another node joins all queues
// within a second, but may not reach that node. So each time that it is asked again, it also looks
// at one of the other nodes, in turn.
class waiter_notices {
public:
    waiter_notices(claim_table& claims, node_pool& nodes, common_calls& calls) noexcept
        : claims_(claims),
          nodes_(nodes),
          calls_(calls)
    {}

    // Asks a node, and another one if it was asked before; later, if none can tell now.
    void ask(core::claim_id id, core::time_point now);
    // Whether a node is to tell it, as far as this is known.
    bool is_set(core::claim_id id) const noexcept { return set_.contains(id); }

    // The answers to that; any push; a node has refused us the key of a claim.
    void on_tracked(std::size_t node, core::claim_id id, reply answer);
    void on_reply(std::size_t node, core::claim_id id, reply answer, core::time_point now);
    void on_push(std::size_t node, reply push);
    void on_refused(std::size_t node, core::claim_id id, core::time_point now);
    // Another node is asked, if there is one.
    void on_down(std::size_t node, core::time_point now);
    // A node can be asked again.
    void on_ready(core::time_point now);

    // A claim for whose resource others wait, by what was found since; each once.
    std::optional<core::claim_id> next_found() noexcept;

    // The claim is ending: no node has to tell it any more.
    void stop(core::claim_id id, core::time_point now);
    // The claim has ended.
    void forget(core::claim_id id) noexcept
    {
        end(id);
        unasked_.erase(id);
    }

private:
    struct notice {
        std::size_t node = 0;
        std::uint64_t queue = 0;  // the hash of its name
        bool untracked = false;   // the node has refused to track it
        bool begun = false;       // the node has answered: a push before that is of an earlier time
        std::size_t looks_at = 0; // the latest of the other nodes
        bool looks = false;       // its answer is still to come
    };

    void look_elsewhere(core::claim_id id, core::time_point now);
    void end_tracking(core::claim_id id, core::time_point now);
    void note(core::claim_id id);
    void end(core::claim_id id) noexcept;

    claim_table& claims_;
    node_pool& nodes_;
    common_calls& calls_;
    boost::unordered_flat_map<core::claim_id, notice> set_;
    boost::unordered_flat_map<std::uint64_t, core::claim_id> by_queue_;
    boost::unordered_flat_set<core::claim_id> unasked_; // no node could tell
    std::vector<core::claim_id> found_;                 // some may have ended
};

} // namespace holdfast::redis
