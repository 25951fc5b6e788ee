#pragma once

#include "core/time.hpp"
#include "redis/quorum/majority.hpp"

#include <holdfast/error.hpp>
#include <holdfast/release_outcome.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace holdfast::redis {

// What we know of our key on one node.
struct claim_node {
    enum class key : std::uint8_t {
        absent, // certainly not there, or not ours
        unsent, // the SET waits for the connection
        asked,  // the SET was sent, or may have been; or the node has granted it and does not count
        ours,   // granted, and it counts
        repaired, // may have been set again: excludes other clients, but does not count yet
    };
    key state = key::absent;
    std::uint8_t open = 0;                   // requests under way that may make it ours
    std::uint8_t refusals = 0;               // in this round
    std::uint8_t trouble = 0;                // an errc: why it has no vote in this round, or 0
    std::uint16_t renewing = 0;              // renewals under way: a user may extend in a loop
    bool repairing : 1 = false;              // a SET to repair it is under way
    bool deleting : 1 = false;               // a deletion is under way
    bool hands_off : 1 = false;              // it hands the key off to the next in the queue
    bool queued : 1 = false;                 // we may be in its queue, or be handed the key
    bool tried : 1 = false;                  // in this search for a queue node
    bool others_wait : 1 = false;            // in its queue, when it was last probed
    bool again : 1 = false;                  // it has refused and will be asked again
    bool leaves_open : 1 = false;            // its deletion asks for a window: see scripts.hpp
    bool lost : 1 = false;                   // it was ours until then, and was found missing
    core::time_point until = core::long_ago; // our key is there at least until then, if granted
};

// The keys of one claim, on all nodes: where they are ours, how long that lasts, and what remains
// to be deleted.
//
// Source: "When is a lease lost?": each node has a deadline, counted from before the request was
// queued; the lease ends at the majority-th largest of them.
class node_keys {
public:
    // Nothing of ours is on these nodes. Keeps the memory of an earlier use.
    void begin(std::size_t nodes);

    std::size_t size() const noexcept { return size_; }
    claim_node& operator[](std::size_t node) noexcept { return at_[node]; }
    const claim_node& operator[](std::size_t node) const noexcept { return at_[node]; }

    // A new search for a queue node begins.
    void forget_tried() noexcept;
    // A SET was queued for a node; what it stores is gone at `until`.
    void sent(std::size_t node, core::time_point until) noexcept;
    // Something of ours stays on a node, at most until then.
    void stays(core::time_point until) noexcept { gone_at_ = std::max(gone_at_, until); }
    // The answer to a SET has come, or never will.
    void answered(std::size_t node) noexcept { --at_[node].open; }
    // A grant that proves the key ours until then. A node that has lost it does not count.
    void granted(std::size_t node, core::time_point until) noexcept
    {
        claim_node& n = at_[node];
        n.state = n.lost ? claim_node::key::repaired : claim_node::key::ours;
        if (!n.lost)
            n.until = std::max(n.until, until);
    }
    // It was granted until then, and does not count yet.
    void stays_until(std::size_t node, core::time_point until) noexcept
    {
        at_[node].until = std::max(at_[node].until, until);
    }
    // A renewal until then was confirmed. `proves_grant`: also that of a SET without an answer.
    void renewed(std::size_t node, core::time_point until, bool proves_grant) noexcept;
    // Our key was found missing by a request that was queued at `asked`.
    void missing(std::size_t node, core::time_point asked) noexcept;
    // A SET that was sent to repair a node has been granted, or may have been.
    void repaired(std::size_t node) noexcept { at_[node].state = claim_node::key::repaired; }
    // Whether the key of a node may count that was there again after `asked`: its time before that
    // is over, and the lease was ours without it at `now`.
    bool may_count_again(
        std::size_t node, core::time_point asked, core::time_point now) const noexcept
    {
        return (!at_[node].lost || asked >= at_[node].until) && has_majority(now);
    }
    // A node has answered our deletion.
    void deleted(std::size_t node, bool was_ours) noexcept;

    // The majority-th largest `until`; `long_ago` if there is no majority.
    core::time_point valid_until() const noexcept;
    // Whether a majority is ours beyond `now`.
    bool has_majority(core::time_point now) const noexcept { return valid_until() > now; }

    // Why a node has neither granted nor refused in this round; nothing if that is not known.
    // Precondition: it has not granted.
    errc trouble_of(std::size_t node) const noexcept
    {
        return static_cast<errc>(at_[node].trouble);
    }

    bool may_hold(std::size_t node) const noexcept
    {
        return at_[node].queued || may_have_key(node);
    }
    bool may_hold_any() const noexcept;
    // Whether we may be in any queue.
    bool is_queued() const noexcept;
    // Whether a key may be ours, wherever we are in queues.
    bool may_have_any_key() const noexcept;
    // Everything that we have set, renewed or joined is gone by then.
    core::time_point gone_at() const noexcept { return gone_at_; }
    std::size_t unsent() const noexcept; // nodes that will be asked once they are connected

    // The result of the deletions; `decided` is false while more answers matter.
    struct release_verdict {
        bool decided = false;
        release_outcome outcome = release_outcome::unconfirmed;
    };
    release_verdict judge_release() const noexcept;

private:
    bool may_have_key(std::size_t node) const noexcept
    {
        const claim_node& n = at_[node];
        return n.repairing ||
               (n.state != claim_node::key::absent && n.state != claim_node::key::unsent);
    }

    std::unique_ptr<claim_node[]> at_; // by node
    core::time_point gone_at_ = core::long_ago;
    std::uint8_t size_ = 0, deleted_ = 0;
};

} // namespace holdfast::redis
