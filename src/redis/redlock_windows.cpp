// How redlock_core leaves a resource to clients that poll: it opens a window as it releases, and
// stays out of one that is open. See polling_windows.hpp.
#include "redis/redlock_core.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::claim_id;
using core::slot_index;
using core::time_point;
using namespace std::chrono_literals;

namespace {

constexpr core::duration shortest_spread = 1ms,
                         longest_spread = 16ms; // of those who wait for the end of one

} // namespace

void redlock_core::name_window(const claim& c)
{
    window_.assign(c.lock).append(window_suffix);
}

void redlock_core::leave_open(claim_id id)
{
    claims_[id].ends_turns = true;
}

// Whether the release of this lease asks for a window. Then our own next attempt stays out of it,
// too: it goes by way of the queue. In fenced mode there are no other clients.
bool redlock_core::opens_window(const claim& c, time_point now)
{
    if (fence_ || !windows_.is_due(c.hash, c.terms.polling, c.ends_turns, now))
        return false;
    contention_.note(c.hash, now);
    return true;
}

// The key is free, but left to clients that poll for so much longer. Whatever nodes have said of
// its owners is of no use meanwhile, and may be out of date then.
void redlock_core::stay_out(claim_id id, std::int64_t for_ms, time_point now)
{
    claim& c = claims_[id];
    c.answer_due = false;
    tell_of_wait(c);
    contention_.note(c.hash, now);
    end_survey(c);
    c.surveyed = false;
    c.stays_out = true;
    const time_point ends =
        now + std::chrono::milliseconds(for_ms) + jitter_.between(shortest_spread, longest_spread);
    c.queue_node_held_until = ends;
    c.asks_again_at = std::max(c.asks_again_at, ends + longest_spread);
    claim_ends_.set(slot_index(id), ends);
}

} // namespace holdfast::redis
