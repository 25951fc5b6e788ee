#pragma once

#include "redis/quorum/vote_round.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace holdfast::redis {

// The answer of a node to a write-back.
enum class write_back_answer : std::uint8_t {
    ok,      // it holds our key and stores the end of our block
    lost,    // it no longer holds the key of our grant
    denied,  // it holds the key, but its clock is too far behind the token
    unknown, // no answer, or it was unreachable; an answer may come late
};

// One attempt to be granted a resource with a fencing token: the answers of nodes in, the token and
// the verdict out.
//
// A node that grants reserves a block of tokens, `start` to `start + block - 1`, and its counter
// becomes the end of that block. The token is the largest start of the first majority of grants,
// and never changes afterwards: this attempt publishes `token()` to `token() + block - 1`. The
// token must be greater than everything that was published before, and everything published later
// must be greater than it. So a node counts only if it has granted no more than the token, and has
// stored the end of the token's block while it held our key: because its own block is that block,
// or because of a write-back.
//
// The verdict is that of a vote_round whose votes are taken back where this does not hold: a node
// that granted less is `pending` again until it has answered the write-back, a node that granted
// more is `refused`. Until the token is known they are plain votes. Thus `acquired` means that a
// majority counts. Code that drives a plain round can drive this one; it must also perform the
// write-backs.
class token_round {
public:
    token_round() = default;

    // Preconditions: 1 <= nodes <= max_nodes; block >= 1.
    token_round(std::size_t nodes, std::uint64_t block) noexcept;

    // The answer of a node to the request for a grant, unless it grants; the latest answer counts.
    // Preconditions: node < nodes; v is refused, failed or unknown; the node has not granted.
    void record(std::size_t node, vote v) noexcept;

    // The node grants, however late. Preconditions: node < nodes; start >= 1; it has not granted
    // before.
    void record_grant(std::size_t node, std::uint64_t start) noexcept;

    // `counter := to`, if the key is ours and the counter is still `from`, that of our grant.
    struct write_back {
        std::size_t node;
        std::uint64_t from, to;
    };
    // The next write-back that is due; each node once. Call it after every grant, also after the
    // verdict: a late write-back gives the lease a spare node.
    std::optional<write_back> next_write_back() noexcept;
    // The same write-back again. Precondition: next_write_back() has named the node.
    write_back write_back_of(std::size_t node) const noexcept;

    // Precondition: next_write_back() has named the node. A late answer may follow `unknown`.
    void record_write_back(std::size_t node, write_back_answer answer) noexcept;

    // As in vote_round: as soon as the votes allow; judge_now(): as if every silent node stayed
    // silent.
    verdict judge() const noexcept { return round_.judge(); }
    verdict judge_now() const noexcept { return round_.judge_now(); }

    // 0 until a majority has granted. Must not be shown to any client before the verdict is
    // `acquired`.
    std::uint64_t token() const noexcept { return token_; }
    // Whether the node is one of those that make the lease.
    bool counts(std::size_t node) const noexcept;
    // The start of what the node has granted; 0: nothing. It may hold our key without counting.
    std::uint64_t start(std::size_t node) const noexcept { return starts_[node]; }
    vote of(std::size_t node) const noexcept { return round_.of(node); }
    const vote_round& votes() const noexcept { return round_; }

private:
    void fix_token() noexcept;
    void compare(std::size_t node) noexcept;
    std::uint64_t end_of_block(std::uint64_t start) const noexcept { return start + block_ - 1; }

    vote_round round_;
    std::array<std::uint64_t, max_nodes> starts_{};
    std::uint64_t token_ = 0, block_ = 1;
    std::uint16_t to_write_back_ = 0; // a bit for each node
    std::uint8_t nodes_ = 0;
};

} // namespace holdfast::redis
