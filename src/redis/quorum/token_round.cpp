#include "redis/quorum/token_round.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace holdfast::redis {

namespace {

static_assert(max_nodes <= 16, "a bit for each node in 16");

constexpr std::uint16_t bit_of(std::size_t node) noexcept
{
    return static_cast<std::uint16_t>(1u << node);
}

} // namespace

token_round::token_round(std::size_t nodes, std::uint64_t block) noexcept
    : round_(nodes),
      block_(block),
      nodes_(static_cast<std::uint8_t>(nodes))
{
    assert(block >= 1);
}

void token_round::record(std::size_t node, vote v) noexcept
{
    assert(v != vote::pending && v != vote::granted && starts_[node] == 0);
    round_.record(node, v);
}

void token_round::record_grant(std::size_t node, std::uint64_t start) noexcept
{
    assert(node < nodes_ && start >= 1 && starts_[node] == 0);
    starts_[node] = start;
    round_.record(node, vote::granted);
    if (token_ != 0)
        compare(node);
    else if (round_.count(vote::granted) == majority(nodes_))
        fix_token();
}

void token_round::fix_token() noexcept
{
    token_ = *std::max_element(starts_.begin(), starts_.begin() + nodes_);
    for (std::size_t i = 0; i < nodes_; ++i) {
        if (starts_[i] != 0)
            compare(i);
    }
}

// Whether a grant counts as it is. It is not enough that its block contains the token: the counter
// must be past everything that we publish. And where more than the token was granted, another
// client may have published the token already.
void token_round::compare(std::size_t node) noexcept
{
    if (starts_[node] > token_) {
        round_.record(node, vote::refused);
    } else if (starts_[node] < token_) {
        round_.record(node, vote::pending);
        to_write_back_ |= bit_of(node);
    }
}

std::optional<token_round::write_back> token_round::next_write_back() noexcept
{
    if (to_write_back_ == 0)
        return std::nullopt;
    const auto node = static_cast<std::size_t>(std::countr_zero(to_write_back_));
    to_write_back_ = static_cast<std::uint16_t>(to_write_back_ & ~bit_of(node));
    return write_back_of(node);
}

token_round::write_back token_round::write_back_of(std::size_t node) const noexcept
{
    assert(node < nodes_ && starts_[node] != 0 && starts_[node] < token_);
    return {node, end_of_block(starts_[node]), end_of_block(token_)};
}

void token_round::record_write_back(std::size_t node, write_back_answer answer) noexcept
{
    assert(node < nodes_ && starts_[node] != 0 && starts_[node] < token_);
    switch (answer) {
    case write_back_answer::ok:
        round_.record(node, vote::granted);
        break;
    case write_back_answer::lost: // it expired, or another client has it by now
        round_.record(node, vote::refused);
        break;
    case write_back_answer::denied:
        round_.record(node, vote::failed);
        break;
    case write_back_answer::unknown:
        round_.record(node, vote::unknown);
        break;
    }
}

bool token_round::counts(std::size_t node) const noexcept
{
    return token_ != 0 && round_.of(node) == vote::granted;
}

} // namespace holdfast::redis
