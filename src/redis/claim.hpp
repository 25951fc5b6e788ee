#pragma once

#include "core/backend.hpp"
#include "redis/fenced_claim.hpp"
#include "redis/vote_round.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::redis {

// What we know of our key on one node.
struct claim_node {
    enum class key : std::uint8_t {
        absent,   // certainly not there, or not ours
        unsent,   // the SET waits for the connection
        asked,    // the SET has left, or may have; or it was granted with too small a token
        ours,     // granted in the round that made the lease
        repaired, // set again after it was lost, or granted with a token that is not that of the
                  // lease: keeps others out, but proves nothing
    };
    key state = key::absent;
    std::uint8_t open = 0;                   // requests under way that may make it ours
    std::uint8_t refusals = 0;               // in this round
    std::uint8_t renewing = 0;               // renewals under way
    std::uint8_t trouble = 0;                // an errc: why it has no vote in this round, or 0
    bool repairing : 1 = false;              // a SET to repair it is under way
    bool deleting : 1 = false;               // a deletion is under way
    bool queued : 1 = false;                 // we may stand in its queue, or be handed the key
    bool was_queue_node : 1 = false;         // of this attempt
    bool others_wait : 1 = false;            // in its queue, when it was looked at
    bool again : 1 = false;                  // it has refused and will be asked again
    bool leaves_open : 1 = false;            // its deletion asks for a window: see scripts.hpp
    bool lost : 1 = false;                   // it was ours, and then was found missing
    core::time_point until = core::long_ago; // our key is there at least until then (`ours` only)
};

// What a claim remembers of the queue, beyond its flags.
struct queue_ticket {
    std::uint64_t survey = 0; // of the key's owners, under way; 0: none
    core::time_point queue_node_held_until{};
    core::time_point asks_again_at{}; // all nodes, whatever the queue node has said meanwhile
};

enum class claim_stage : std::uint8_t {
    queued,    // waits for its turn at its queue_node
    asking,    // the round is open
    held,      // granted
    releasing, // being deleted, somebody waits for the outcome
    cleaning,  // being deleted, nobody waits
};

// One attempt, and the lease that came of it, over all nodes. Keeps the books; asks nobody.
//
// Source: "When is a lease lost?": a deadline for each node, counted from before the request was
// queued; the lease ends at the majority-th largest of them.
class claim {
public:
    // Puts a used object in order for a new attempt; keeps its memory.
    void begin(std::uint64_t tag, std::string_view lock, const core::owner_token& token,
        const core::claim_params& params, std::size_t nodes);

    // In fenced mode, after that.
    void begin_fence(std::uint64_t block);

    // A SET was queued for a node at `now`.
    void sent(std::size_t node, core::time_point now) noexcept;
    // Something of ours will be there for so long.
    void leaves(core::duration ttl, core::time_point now) noexcept
    {
        gone_at = std::max(gone_at, now + ttl);
    }
    // Its answer is there, or there will be none.
    void answered(std::size_t node) noexcept { --at[node].open; }
    // What a node said to the SET of the round that was queued at `asked`, however late: yes, or
    // something else; `failed` for one that cannot be asked. `start`: in fenced mode, of the block
    // of tokens that it has granted; it does not count if the node has a fence_trouble. `why`: of
    // what is neither yes nor no, if it is known.
    void granted(std::size_t node, core::time_point asked, std::uint64_t start = 0);
    void not_granted(std::size_t node, vote v, errc why = {}) noexcept;
    // What it said to a RAISE. Precondition: the round has named the node.
    void written_back(std::size_t node, write_back_answer answer) noexcept;
    // A renewal that was queued at `asked` was confirmed; or our key was found missing: a node that
    // loses it does not count any more, whatever it grants later.
    void renewed(std::size_t node, core::time_point asked) noexcept;
    void missing(std::size_t node) noexcept;
    // A SET that was sent to repair a node has been granted.
    void repaired(std::size_t node) noexcept;
    // A node has answered our deletion.
    void deleted(std::size_t node, bool was_ours) noexcept;

    // The majority-th largest `until`; `long_ago` if there is no majority.
    core::time_point valid_until() const noexcept;
    // Whether a majority is ours beyond `now`.
    bool has_majority(core::time_point now) const noexcept { return valid_until() > now; }

    // Why a node is neither for us nor against us in this round; nothing if that is not known.
    // Precondition: it has not granted.
    errc trouble_of(std::size_t node) const noexcept { return static_cast<errc>(at[node].trouble); }

    const vote_round& votes() const noexcept { return fence ? fence->round.votes() : round_; }

    // Whether the claim can have another holder in this process: its tokens may be used up.
    // Precondition: the round is over.
    bool can_transfer() const noexcept;
    // Gives it another holder. Returns that one's token, in fenced mode.
    std::optional<std::uint64_t> transfer(std::uint64_t new_tag) noexcept;
    // Precondition: fenced mode. The last token of its block.
    std::uint64_t last_token() const noexcept;

    bool may_hold(std::size_t node) const noexcept
    {
        const claim_node& n = at[node];
        return n.repairing || n.queued ||
               (n.state != claim_node::key::absent && n.state != claim_node::key::unsent);
    }
    bool may_hold_any() const noexcept;
    // A vote still counts: for the round, or as one node to spare.
    bool is_open() const noexcept
    {
        return stage == claim_stage::asking || stage == claim_stage::held;
    }
    // Whether a node gives no token for a while only.
    bool gives_no_token_for_now(std::size_t node) const noexcept;
    std::size_t unsent() const noexcept; // nodes that will be asked once they are connected

    // What the deletions amount to; `decided` false while more answers matter.
    struct release_verdict {
        bool decided = false;
        release_outcome outcome = release_outcome::unconfirmed;
    };
    release_verdict judge_release() const noexcept;

    std::size_t nodes() const noexcept { return nodes_; }

    std::string lock; // the name of its key: in plain mode that is the resource
    core::owner_token token{};
    core::claim_params params{};
    std::uint64_t tag = 0;
    std::uint64_t hash = 0;              // of that name
    std::uint8_t queue_node = max_nodes; // where it is queued, or was handed over to us; or none
    claim_stage stage = claim_stage::asking; // written by life_cycle alone
    bool answer_due = false;                 // from the queue_node: whether it is our turn
    bool has_waited = false;                 // it was not, when we came
    bool handed_over = false;    // the queue_node's key is ours, the other nodes will follow
    bool everywhere = false;     // it stands, or is to stand, in all queues
    bool others_first = false;   // one of them has the queue_node's key, or was handed ours
    std::uint8_t looks = 0;      // under way: whether others wait
    std::uint8_t late = 0;       // nodes to which the requests of this stage have left late
    bool looked_in_vain = false; // some do, or that cannot be said
    bool ends_turns = false;     // its release does, after as long a time as they may last
    bool stays_out = false;      // of a window that is open
    bool tracked = false;        // the queue_node tells us when its key changes
    bool surveyed = false;       // who has the key, since it was last due
    core::time_point round_began{};
    core::time_point asked_again_at = core::never; // those who have refused
    core::time_point gone_at{}; // what we have set, renewed or joined on any node is gone then
    core::time_point reported = core::long_ago; // the validity that the locker was told
    std::unique_ptr<claim_node[]> at;           // by node
    std::unique_ptr<queue_ticket> ticket;       // once it has been queued
    std::unique_ptr<fenced_claim> fence;        // in fenced mode

private:
    // Of what was granted, or renewed, by a request that was queued at `asked`.
    core::time_point end_of(core::time_point asked) const noexcept;

    void granted_tokens(std::size_t node, core::time_point asked, std::uint64_t start) noexcept;
    void granted_no_tokens(std::size_t node, vote v) noexcept;
    void weigh() noexcept;

    vote_round round_; // in plain mode
    std::uint8_t nodes_ = 0, deleted_ = 0;
};

} // namespace holdfast::redis
