#include "redis/quorum/vote_round.hpp"

#include <cassert>

namespace holdfast::redis {

vote_round::vote_round(std::size_t nodes) noexcept : nodes_(static_cast<std::uint8_t>(nodes))
{
    assert(nodes >= 1 && nodes <= max_nodes);
    counts_[static_cast<std::size_t>(vote::pending)] = nodes_;
}

void vote_round::record(std::size_t node, vote v) noexcept
{
    assert(node < nodes_);
    --counts_[static_cast<std::size_t>(votes_[node])];
    votes_[node] = v;
    ++counts_[static_cast<std::size_t>(v)];
}

verdict vote_round::judge() const noexcept
{
    return judge(0);
}

verdict vote_round::judge_now() const noexcept
{
    return judge(count(vote::pending));
}

verdict vote_round::judge(std::size_t silent) const noexcept
{
    if (count(vote::granted) >= majority(nodes_))
        return verdict::acquired;
    const std::size_t against = count(vote::failed) + count(vote::unknown) + silent;
    if (against >= blocking(nodes_))
        return verdict::unreachable;
    if (against + count(vote::refused) >= blocking(nodes_))
        return verdict::contended;
    return verdict::undecided;
}

} // namespace holdfast::redis
