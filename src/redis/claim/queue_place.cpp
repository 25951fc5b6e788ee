#include "redis/claim/queue_place.hpp"

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
    answer_due = cut_off = false;
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

void queue_place::has_turn(std::size_t queue_node) noexcept
{
    node = static_cast<std::uint8_t>(queue_node);
    handed_over = true;
}

} // namespace holdfast::redis
