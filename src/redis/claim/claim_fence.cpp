// The part of a claim that only fenced mode uses.
#include "redis/claim/claim.hpp"

#include <algorithm>

namespace holdfast::redis {

using key = claim_node::key;

void claim::begin_fence(std::uint64_t block)
{
    if (!fence)
        fence = std::make_unique<fenced_claim>();
    *fence = {.round = token_round(nodes_, block), .block = block};
}

// Only the first grant of a node counts. If it grants again after its key was lost, another client
// may have had the key in between.
void claim::granted_tokens(std::size_t node, core::time_point asked, std::uint64_t start) noexcept
{
    claim_node& n = at[node];
    n.again = false;
    if (fence->round.start(node) != 0) {
        if (n.state != key::ours)
            n.state = key::repaired;
        return;
    }
    if (fence->troubles[node] != fence_trouble::none) {
        n.state = key::repaired;
        fence->round.record(node, vote::failed);
        return;
    }
    n.state = key::ours;
    n.until = std::max(n.until, end_of(asked));
    fence->round.record_grant(node, start);
    weigh();
}

// The grant of a node stands if the node later refuses or does not answer.
void claim::granted_no_tokens(std::size_t node, vote v) noexcept
{
    token_round& round = fence->round;
    if (round.start(node) == 0)
        round.record(node, v);
    else if (v == vote::unknown && round.of(node) == vote::pending)
        round.record_write_back(node, write_back_answer::unknown);
}

void claim::written_back(std::size_t node, write_back_answer answer) noexcept
{
    fence->round.record_write_back(node, answer);
    claim_node& n = at[node];
    if (n.state == key::asked && answer != write_back_answer::unknown)
        n.state = answer == write_back_answer::ok && !n.lost ? key::ours : key::repaired;
}

// Some nodes that have granted do not count, or not yet: they may hold our key.
void claim::weigh() noexcept
{
    for (std::size_t i = 0; i < nodes_; ++i) {
        if (at[i].state == key::ours && fence->round.of(i) != vote::granted)
            at[i].state = fence->round.of(i) == vote::refused ? key::repaired : key::asked;
    }
}

bool claim::can_transfer() const noexcept
{
    return !fence || fence->passed + 1 < fence->block;
}

std::optional<std::uint64_t> claim::transfer(std::uint64_t new_tag) noexcept
{
    tag = new_tag;
    if (!fence)
        return std::nullopt;
    return fence->round.token() + ++fence->passed;
}

bool claim::gives_no_token_for_now(std::size_t node) const noexcept
{
    return fence && transient(fence->troubles[node]);
}

std::uint64_t claim::last_token() const noexcept
{
    return fence->round.token() + fence->block - 1;
}

} // namespace holdfast::redis
