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

// The one behind the first cannot have its turn before that one had it, and so on. If turns take
// about as long as before, half of the time to its own has passed by its next look.
time_point look_schedule::for_turn(const place& at, time_point now, time_point latest) noexcept
{
    const std::int64_t ahead = std::clamp<std::int64_t>(at.ahead, 0, furthest);
    const duration unchanged = std::max((now - at.moved_at) / 64, at.turn / 16);
    const duration first = std::clamp<duration>(unchanged, shortest, longest);
    const duration half = std::min(at.turn, 2 * longest) * ahead / 2;
    return fit(std::max(first * (1 + ahead), half), now, latest);
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
