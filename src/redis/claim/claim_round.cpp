#include "redis/claim/claim_round.hpp"

namespace holdfast::redis {

void claim_round::begin_fence(std::size_t nodes, std::uint64_t block)
{
    if (!fence_)
        fence_ = std::make_unique<fenced_claim>();
    *fence_ = {.round = token_round(nodes, block), .block = block};
}

claim_round::grant claim_round::record_tokens(std::size_t node, std::uint64_t start) noexcept
{
    if (fence_->round.start(node) != 0)
        return grant::repeated;
    if (fence_->troubles[node] != fence_trouble::none) {
        fence_->round.record(node, vote::failed);
        return grant::void_;
    }
    fence_->round.record_grant(node, start);
    return grant::counts;
}

void claim_round::record(std::size_t node, vote v) noexcept
{
    if (!fence_)
        return votes_.record(node, v);
    token_round& round = fence_->round;
    if (round.start(node) == 0)
        round.record(node, v);
    else if (v == vote::unknown && round.of(node) == vote::pending)
        round.record_write_back(node, write_back_answer::unknown);
}

std::optional<std::uint64_t> claim_round::transfer() noexcept
{
    if (!fence_)
        return std::nullopt;
    return fence_->round.token() + ++fence_->passed;
}

} // namespace holdfast::redis
