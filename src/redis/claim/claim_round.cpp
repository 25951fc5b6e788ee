#include "redis/claim/claim_round.hpp"

namespace holdfast::redis {

void claim_round::begin_fence(std::size_t nodes)
{
    if (!fence_)
        fence_ = std::make_unique<fenced_claim>();
    *fence_ = {.round = ballot_round(nodes)};
}

bool claim_round::can_transfer() const noexcept
{
    return !fence_ || fence_->passed + 1 < tokens_in_ballot;
}

std::optional<std::uint64_t> claim_round::transfer() noexcept
{
    if (!fence_)
        return std::nullopt;
    return fence_->round.published() * tokens_in_ballot + ++fence_->passed;
}

} // namespace holdfast::redis
