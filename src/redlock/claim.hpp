#pragma once

#include "core/backend.hpp"
#include "redlock/acquire_round.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::redis {

// What we know of our key on one node.
struct claim_node {
    enum class key : std::uint8_t {
        absent, // certainly not there, or not ours
        unsent, // the SET waits for the connection
        asked,  // the SET has left, or may have
        ours,   // granted in the round that made the lease
        healed, // set again later: keeps others out, but proves nothing about the time before
    };
    key state = key::absent;
    std::uint8_t open = 0;                   // requests under way that may make it ours
    bool healing = false;                    // a SET to heal it is under way
    bool deleting = false;                   // a deletion is under way
    bool queued = false;                     // we may stand in its queue, or be handed the key
    bool again = false;                      // it has refused and will be asked again
    std::uint8_t refusals = 0;               // in this round
    std::uint8_t renewing = 0;               // renewals under way
    core::time_point until = core::long_ago; // our key is there at least until then (`ours` only)
};

// One attempt, and the lease that came of it, over all nodes. Keeps the books; asks nobody.
//
// Source: "When is a lease lost?": a deadline for each node, counted from before the request was
// queued; the lease ends at the majority-th largest of them.
class claim {
public:
    enum class stage : std::uint8_t {
        queued,    // waits for its turn at its arbiter
        asking,    // the round is open
        held,      // granted
        releasing, // being deleted, somebody waits for the outcome
        cleaning,  // being deleted, nobody waits
    };

    // Puts a used object in order for a new attempt; keeps its memory.
    void begin(std::uint64_t tag, std::string_view resource, const core::owner_token& token,
        const core::claim_terms& terms, std::size_t nodes);

    // A SET was queued for a node at `now`.
    void sent(std::size_t node, core::time_point now) noexcept;
    // Its answer is there, or there will be none.
    void answered(std::size_t node) noexcept { --at[node].open; }
    // What a node said to the SET of the round, however late. `failed` for one that cannot be
    // asked.
    void record(std::size_t node, vote v) noexcept;
    // A renewal that was queued at `asked` was confirmed; or our key was found missing.
    void renewed(std::size_t node, core::time_point asked) noexcept;
    void missing(std::size_t node) noexcept;
    // A SET that was sent to heal a node has been granted.
    void healed(std::size_t node) noexcept;
    // A node has answered our deletion.
    void deleted(std::size_t node, bool was_ours) noexcept;

    // The majority-th largest `until`; `long_ago` if there is no majority.
    core::time_point valid_until() const noexcept;
    // Whether a majority is ours beyond `now`.
    bool has_majority(core::time_point now) const noexcept { return valid_until() > now; }

    bool may_hold(std::size_t node) const noexcept;
    bool may_hold_any() const noexcept;
    std::size_t unsent() const noexcept; // nodes that will be asked once they are connected

    // What the deletions amount to; `decided` false while more answers matter.
    struct release_verdict {
        bool decided = false;
        release_outcome outcome = release_outcome::unconfirmed;
    };
    release_verdict judge_release() const noexcept;

    std::size_t nodes() const noexcept { return nodes_; }

    std::string resource;
    core::owner_token token{};
    core::claim_terms terms{};
    std::uint64_t tag = 0;
    stage phase = stage::asking;
    std::uint64_t hash = 0;             // of the resource
    std::size_t arbiter = max_nodes;    // where it is queued, or was handed over to us; or none
    std::optional<std::size_t> avoided; // for a second: its turn came to nothing the last time
    bool answer_due = false;            // from the arbiter: whether it is our turn
    bool has_waited = false;            // it was not, when we came
    bool handed_over = false;           // the arbiter's key is ours, the other nodes will follow
    bool looking = false;               // whether others wait, at the arbiter
    bool tracked = false;               // the arbiter tells us when its key changes
    bool others_free = false; // a majority of the nodes, when the arbiter was asked the last time
    core::time_point arbiter_held_until{};
    core::time_point asks_again_at{}; // all nodes, whatever the arbiter has said meanwhile
    core::time_point round_began{};
    core::time_point asked_again_at = core::never; // those who have refused
    core::time_point last_sent{};               // of a SET or renewal: the key is gone a ttl later
    core::time_point reported = core::long_ago; // the validity that the locker was told
    acquire_round round;
    std::array<claim_node, max_nodes> at{};

private:
    std::uint8_t nodes_ = 0, deleted_ = 0;
};

} // namespace holdfast::redis
