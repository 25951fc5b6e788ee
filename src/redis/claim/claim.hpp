#pragma once

#include "core/backend.hpp"
#include "redis/claim/fenced_claim.hpp"
#include "redis/quorum/vote_round.hpp"

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
        asked,    // the SET was sent, or may have been; or it was granted with too small a token
        ours,     // granted in the round that made the lease
        repaired, // set again after it was lost, or granted with a token other than that of the
                  // lease: excludes other clients, but proves nothing
    };
    key state = key::absent;
    std::uint8_t open = 0;                   // requests under way that may make it ours
    std::uint8_t refusals = 0;               // in this round
    std::uint8_t renewing = 0;               // renewals under way
    std::uint8_t trouble = 0;                // an errc: why it has no vote in this round, or 0
    bool repairing : 1 = false;              // a SET to repair it is under way
    bool deleting : 1 = false;               // a deletion is under way
    bool queued : 1 = false;                 // we may be in its queue, or be handed the key
    bool was_queue_node : 1 = false;         // in this attempt
    bool others_wait : 1 = false;            // in its queue, when it was last probed
    bool again : 1 = false;                  // it has refused and will be asked again
    bool leaves_open : 1 = false;            // its deletion asks for a window: see scripts.hpp
    bool lost : 1 = false;                   // it was ours, and was then found missing
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
    releasing, // being deleted, the locker waits for the outcome
    cleaning,  // being deleted, the outcome is not waited for
};

// One attempt, and the lease that comes of it, over all nodes. Only records; sends no requests.
//
// Source: "When is a lease lost?": each node has a deadline, counted from before the request was
// queued; the lease ends at the majority-th largest of them.
class claim {
public:
    // Resets a used object for a new attempt; keeps its memory.
    void begin(std::uint64_t tag, std::string_view lock, const core::owner_token& token,
        const core::claim_params& params, std::size_t nodes);

    // In fenced mode, after begin().
    void begin_fence(std::uint64_t block);

    // A SET was queued for a node at `now`.
    void sent(std::size_t node, core::time_point now) noexcept;
    // Something of ours stays on a node for up to `ttl` from `now`.
    void leaves(core::duration ttl, core::time_point now) noexcept
    {
        gone_at = std::max(gone_at, now + ttl);
    }
    // Its answer has come, or never will.
    void answered(std::size_t node) noexcept { --at[node].open; }
    // The answer of a node to the SET of the round that was queued at `asked`, however late:
    // granted, or something else; `failed` for a node that cannot be asked. `start`: in fenced
    // mode, the start of the block of tokens that it has granted; it does not count if the node has
    // a fence_trouble. `why`: the reason if it has neither granted nor refused, if known.
    void granted(std::size_t node, core::time_point asked, std::uint64_t start = 0);
    void not_granted(std::size_t node, vote v, errc why = {}) noexcept;
    // Its answer to a write-back. Precondition: the round has named the node.
    void written_back(std::size_t node, write_back_answer answer) noexcept;
    // A renewal that was queued at `asked` was confirmed; or our key was found missing: a node that
    // loses it no longer counts, whatever it grants later.
    void renewed(std::size_t node, core::time_point asked) noexcept;
    void missing(std::size_t node) noexcept;
    // A SET that was sent to repair a node has been granted.
    void repaired(std::size_t node) noexcept;
    // A node has answered our deletion.
    void deleted(std::size_t node, bool was_ours) noexcept;

    // The majority-th largest `until`; `long_ago` if there is no majority.
    core::time_point valid_until() const noexcept;
    // That validity, as it is reported.
    core::validity validity_until(core::time_point until) const noexcept
    {
        return {.asked = until - (params.ttl - params.drift), .ttl = params.ttl, .until = until};
    }
    // Whether a majority is ours beyond `now`.
    bool has_majority(core::time_point now) const noexcept { return valid_until() > now; }

    // Why a node has neither granted nor refused in this round; nothing if that is not known.
    // Precondition: it has not granted.
    errc trouble_of(std::size_t node) const noexcept { return static_cast<errc>(at[node].trouble); }

    const vote_round& votes() const noexcept { return fence ? fence->round.votes() : round_; }

    // Whether the claim can be transferred to another holder in this process: its tokens may be
    // used up. Precondition: the round is over.
    bool can_transfer() const noexcept;
    // Transfers it to another holder. In fenced mode, returns the token of the new holder.
    std::optional<std::uint64_t> transfer(std::uint64_t new_tag) noexcept;
    // The last token of its block. Precondition: fenced mode.
    std::uint64_t last_token() const noexcept;

    bool may_hold(std::size_t node) const noexcept
    {
        const claim_node& n = at[node];
        return n.repairing || n.queued ||
               (n.state != claim_node::key::absent && n.state != claim_node::key::unsent);
    }
    bool may_hold_any() const noexcept;
    // Whether a vote still counts: for the round, or as a spare node of the lease.
    bool is_open() const noexcept
    {
        return stage == claim_stage::asking || stage == claim_stage::held;
    }
    // Whether a node gives no token only for a while.
    bool gives_no_token_for_now(std::size_t node) const noexcept;
    std::size_t unsent() const noexcept; // nodes that will be asked once they are connected

    // The result of the deletions; `decided` is false while more answers matter.
    struct release_verdict {
        bool decided = false;
        release_outcome outcome = release_outcome::unconfirmed;
    };
    release_verdict judge_release() const noexcept;

    std::size_t nodes() const noexcept { return nodes_; }

    std::string lock; // the name of its key: in plain mode the resource
    core::owner_token token{};
    core::claim_params params{};
    std::uint64_t tag = 0;
    std::uint64_t hash = 0; // of that name
    std::uint8_t queue_node =
        max_nodes; // where it is queued, or was handed off to us; or max_nodes
    claim_stage stage = claim_stage::asking; // written only by life_cycle
    bool answer_due = false;                 // from the queue node: whether it is our turn
    bool has_waited = false;                 // it was not our turn when we came
    bool handed_over = false;                // the queue node's key is ours, the others will follow
    bool everywhere = false;                 // it is in all queues, or is to join them
    bool others_first = false;               // another client has the queue node's key, or got ours
    std::uint8_t looks = 0;                  // probes under way: whether other processes wait
    std::uint8_t late = 0;                   // requests of this stage that were sent late
    bool looked_in_vain = false;             // other processes wait, or that is unknown
    bool ends_turns = false; // its release ends the turns of this process: their time is up
    bool stays_out = false;  // it keeps out of an open window
    bool tracked = false;    // the queue node tells us when its key changes
    bool surveyed = false;   // the owners of the key were asked for since that was last due
    core::time_point round_began{};
    core::time_point asked_again_at = core::never; // the nodes that have refused
    core::time_point gone_at{}; // everything that we have set, renewed or joined is gone by then
    core::time_point reported = core::long_ago; // the validity that was reported to the locker
    std::unique_ptr<claim_node[]> at;           // by node
    std::unique_ptr<queue_ticket> ticket;       // once it has been queued
    std::unique_ptr<fenced_claim> fence;        // in fenced mode

private:
    // The end of a grant or a renewal whose request was queued at `asked`.
    core::time_point end_of(core::time_point asked) const noexcept;

    void granted_tokens(std::size_t node, core::time_point asked, std::uint64_t start) noexcept;
    void granted_no_tokens(std::size_t node, vote v) noexcept;
    void weigh() noexcept;

    vote_round round_; // in plain mode
    std::uint8_t nodes_ = 0, deleted_ = 0;
};

} // namespace holdfast::redis
