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
    const auto token = next_fence();
    if (fence_)
        ++fence_->passed;
    return token;
}

std::optional<std::uint64_t> claim_round::next_fence() const noexcept
{
    if (!fence_)
        return std::nullopt;
    return fence_->round.published() * tokens_in_ballot + fence_->passed + 1;
}

bool claim_round::can_be_given() const noexcept
{
    return can_transfer() && (!fence_ || fence_->round.all_keys_count());
}

void claim_round::take_over(std::size_t nodes, std::optional<std::uint64_t> fence)
{
    if (fence_) {
        *fence_ = {.round = ballot_round(nodes), .passed = *fence % tokens_in_ballot};
        fence_->round.take_over(*fence / tokens_in_ballot);
    } else {
        for (std::size_t i = 0; i < nodes; ++i)
            votes_.record(i, vote::granted);
    }
}

void claim_round::begin_confirmation(std::size_t nodes) noexcept
{
    if (fence_)
        fence_->round.begin_confirmation();
    else
        begin(nodes);
}

} // namespace holdfast::redis
