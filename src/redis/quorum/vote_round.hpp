#pragma once

#include "redis/quorum/majority.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::redis {

// The answer of one node to our SET.
enum class vote : std::uint8_t {
    pending, // no answer yet; it may hold our key
    granted,
    refused, // another client holds the key
    failed,  // it certainly does not hold our key: not asked, or an error that proves it
    unknown, // no answer in time; it may hold our key
};

// The result of the votes.
enum class verdict : std::uint8_t { undecided, acquired, contended, unreachable };

// One attempt to be granted a resource by a majority of nodes: votes in, verdict out.
class vote_round {
public:
    vote_round() = default;

    // Precondition: 1 <= nodes <= max_nodes.
    explicit vote_round(std::size_t nodes) noexcept;

    // The latest vote of a node counts: `unknown` may become `granted` when its answer comes late,
    // and `pending` again when the node is asked for more. Precondition: node < nodes.
    void record(std::size_t node, vote v) noexcept;

    // As soon as the votes allow: does not wait for the remaining answers.
    verdict judge() const noexcept;
    // As if every silent node stayed silent.
    verdict judge_now() const noexcept;

    vote of(std::size_t node) const noexcept { return votes_[node]; }
    std::size_t count(vote v) const noexcept { return counts_[static_cast<std::size_t>(v)]; }

private:
    verdict judge(std::size_t silent) const noexcept;

    std::array<vote, max_nodes> votes_{};
    std::array<std::uint8_t, 5> counts_{};
    std::uint8_t nodes_ = 0;
};

} // namespace holdfast::redis
