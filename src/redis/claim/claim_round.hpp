#pragma once

#include "redis/claim/fenced_claim.hpp"
#include "redis/quorum/ballot_round.hpp"
#include "redis/quorum/vote_round.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace holdfast::redis {

// The votes of an attempt. In fenced mode also the ballots of the claim: a node that has granted
// the key counts only if it has accepted the ballot. See ballot_round.hpp.
class claim_round {
public:
    // In plain mode. begin_fence(): in fenced mode, after it.
    void begin(std::size_t nodes) noexcept { votes_ = vote_round(nodes); }
    void begin_fence(std::size_t nodes);

    bool is_fenced() const noexcept { return fence_ != nullptr; }
    const vote_round& votes() const noexcept { return fence_ ? fence_->round.votes() : votes_; }

    // A request for the key is sent to the node.
    void ask_for_key(std::size_t node) noexcept
    {
        if (fence_)
            fence_->round.ask_for_key(node);
    }
    // The node has granted the key. In fenced mode, it then has to accept the ballot.
    void record_key(std::size_t node) noexcept
    {
        if (fence_)
            fence_->round.record_key(node);
        else
            votes_.record(node, vote::granted);
    }
    // Anything else. In fenced mode, the grant of a node stands whatever it says later.
    void record(std::size_t node, vote v) noexcept
    {
        if (fence_)
            fence_->round.record(node, v);
        else
            votes_.record(node, v);
    }
    // The key was found missing.
    void lose_key(std::size_t node) noexcept
    {
        if (fence_)
            fence_->round.lose_key(node);
    }

    // Whether the node is one of those that make the lease. Precondition: it holds our key.
    bool counts(std::size_t node) const noexcept
    {
        return !fence_ || fence_->round.of(node) == vote::granted;
    }
    // In fenced mode: whether the node holds our key, and perhaps does not count.
    bool has_key(std::size_t node) const noexcept { return fence_ && fence_->round.has_key(node); }

    // Whether the node does not count only for a while.
    bool does_not_count_for_now(std::size_t node) const noexcept
    {
        return fence_ && transient(fence_->troubles[node]);
    }

    // Whether the lease can be given to another client. In fenced mode: a node that holds our key
    // without counting would count for that client, and the tokens may be used up.
    bool can_be_given() const noexcept;
    // The token of the next holder, in fenced mode. Precondition: can_transfer().
    std::optional<std::uint64_t> next_fence() const noexcept;
    // The lease of another client is ours, with that token: all nodes count.
    void take_over(std::size_t nodes, std::optional<std::uint64_t> fence);
    // After take_over(): nodes count once they have confirmed that they hold the key.
    void begin_confirmation(std::size_t nodes) noexcept;

    // Precondition: fenced mode.
    fenced_claim& fence() noexcept { return *fence_; }
    const fenced_claim& fence() const noexcept { return *fence_; }
    ballot_round& ballots() noexcept { return fence_->round; }
    const ballot_round& ballots() const noexcept { return fence_->round; }

    // Whether another holder can follow: the tokens may be used up. Precondition: the round is
    // over.
    bool can_transfer() const noexcept;
    // Another holder follows. In fenced mode, returns its token.
    std::optional<std::uint64_t> transfer() noexcept;

private:
    std::unique_ptr<fenced_claim> fence_; // in fenced mode
    vote_round votes_;                    // in plain mode
};

} // namespace holdfast::redis
