#pragma once

#include "redis/claim/fenced_claim.hpp"
#include "redis/quorum/token_round.hpp"
#include "redis/quorum/vote_round.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace holdfast::redis {

// The votes of an attempt. In fenced mode also the tokens of the claim: a grant counts only as long
// as it counts for the token. See token_round.hpp.
class claim_round {
public:
    // In plain mode. begin_fence(): in fenced mode, after it; `block`: so many tokens are reserved.
    void begin(std::size_t nodes) noexcept { votes_ = vote_round(nodes); }
    void begin_fence(std::size_t nodes, std::uint64_t block);

    bool is_fenced() const noexcept { return fence_ != nullptr; }
    const vote_round& votes() const noexcept { return fence_ ? fence_->round.votes() : votes_; }

    // What a grant says about the key of its node.
    enum class grant : std::uint8_t {
        counts,
        void_,    // the node gives no token that counts
        repeated, // only the first grant of a node counts: another client may have had the key
                  // since
    };
    // `start`: in fenced mode, the start of the block of tokens that the node has granted.
    grant record_grant(std::size_t node, std::uint64_t start) noexcept
    {
        if (fence_)
            return record_tokens(node, start);
        votes_.record(node, vote::granted);
        return grant::counts;
    }
    // Anything else. In fenced mode, the grant of a node stands whatever it says later.
    void record(std::size_t node, vote v) noexcept;

    // Why a node gives no token that counts, as it has answered. Precondition: fenced mode.
    void note_trouble(std::size_t node, fence_trouble trouble) noexcept
    {
        fence_->troubles[node] = trouble;
    }
    // Whether it gives none only for a while.
    bool gives_no_token_for_now(std::size_t node) const noexcept
    {
        return fence_ && transient(fence_->troubles[node]);
    }

    // Precondition of these: fenced mode.
    token_round& tokens() noexcept { return fence_->round; }
    const token_round& tokens() const noexcept { return fence_->round; }
    std::uint64_t block() const noexcept { return fence_->block; }
    std::uint64_t last_token() const noexcept { return tokens().token() + block() - 1; }

    // Whether another holder can follow: the tokens may be used up. Precondition: the round is
    // over.
    bool can_transfer() const noexcept { return !fence_ || fence_->passed + 1 < fence_->block; }
    // Another holder follows. In fenced mode, returns its token.
    std::optional<std::uint64_t> transfer() noexcept;

private:
    grant record_tokens(std::size_t node, std::uint64_t start) noexcept;

    std::unique_ptr<fenced_claim> fence_; // in fenced mode
    vote_round votes_;                    // in plain mode
};

} // namespace holdfast::redis
