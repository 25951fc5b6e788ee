#include "sql/look_schedule.hpp"

#include <algorithm>

namespace holdfast::sql {

using core::duration;
using core::time_point;
using namespace std::chrono_literals;

namespace {

constexpr duration shortest = 1ms, longest = 5ms; // of the first waiter
constexpr std::int64_t furthest = 99;             // waiters behind it look as often
constexpr duration others_look = 20ms;

} // namespace

// The one behind the first cannot have its turn before that one had it, and so on.
time_point look_schedule::for_turn(
    std::int64_t ahead, time_point moved_at, time_point now, time_point latest) noexcept
{
    const duration first = std::clamp<duration>((now - moved_at) / 64, shortest, longest);
    return fit(first * (1 + std::clamp<std::int64_t>(ahead, 0, furthest)), now, latest);
}

time_point look_schedule::for_others(time_point now) noexcept
{
    return fit(others_look, now, core::never);
}

time_point look_schedule::fit(duration pause, time_point now, time_point latest) noexcept
{
    const time_point room = std::max(free_at_, now) + cost;
    time_point at = std::max(now + jitter_.between(pause - pause / 4, pause), room);
    if (const duration into = (at.time_since_epoch() + phase_) % round; into != duration(0))
        at += round - into;
    if (at > latest)
        return latest; // others have the room
    free_at_ = room;
    return at;
}

} // namespace holdfast::sql
