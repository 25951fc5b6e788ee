#include "redis/claim/queue_place.hpp"

#include "redis/node/scripts.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

void queue_place::enter(std::size_t queue_node, core::time_point asks_again_at)
{
    if (!ticket)
        ticket = std::make_unique<queue_ticket>();
    tracked = tracked && node == queue_node;
    node = static_cast<std::uint8_t>(queue_node);
    ticket->asks_again_at = asks_again_at;
}

void queue_place::asked() noexcept
{
    answer_due = true;
    stays_out = false;
}

bool queue_place::waits() noexcept
{
    answer_due = false;
    return !std::exchange(has_waited, true);
}

bool queue_place::waits_for_window(core::time_point ends, core::time_point asks_again_at) noexcept
{
    surveyed = false;
    stays_out = true;
    ticket->queue_node_held_until = ends;
    ticket->asks_again_at = std::max(ticket->asks_again_at, asks_again_at);
    return waits();
}

bool queue_place::may_change_hands(core::duration ttl, core::time_point now) const noexcept
{
    constexpr core::duration longest_start =
        std::chrono::milliseconds(64); // until its owner has asked the other nodes
    const core::duration left = ticket->queue_node_held_until - now;
    return left <= hand_over_ttl || (left <= ttl && left >= ttl - longest_start);
}

void queue_place::has_turn(std::size_t queue_node) noexcept
{
    node = static_cast<std::uint8_t>(queue_node);
    handed_over = true;
}

} // namespace holdfast::redis
