#include "core/admission.hpp"

#include <algorithm>

namespace holdfast::core {

namespace {

// A delay up to this fraction of the node timeout (1 / small_part) is not long. The bound does not
// grow at delays above 1 / large_part of the node timeout.
constexpr int small_part = 32, large_part = 2;

// A delay up to this multiple of the shortest delay is not long either: some nodes are far away.
constexpr int near_shortest = 2;

// Where nothing answers. Only an answer to an attempt shows that the nodes are back.
constexpr duration longest_closure = std::chrono::seconds(1);

constexpr double growth = 1.0 / 16; // for each answer, after the bound was too large once
constexpr double decrease = 0.75, strong_decrease = 0.5;

} // namespace

void admission::answered(
    time_point asked, duration node_timeout, bool wanted, time_point now) noexcept
{
    --under_way_;
    failures_ = 0;
    closed_until_ = long_ago;
    asked = std::min(asked, now);
    const duration delay = now - asked;
    delays_.note(delay, now);
    const duration limit = long_delay(node_timeout);
    if (delay > limit + limit / 2)
        shrink(asked, decrease, now);
    else if (wanted && delay <= std::min(limit, node_timeout / large_part))
        bound_ = std::min<double>(most, bound_ + (starting_ ? 1 : growth));
}

void admission::unanswered(
    time_point asked, duration node_timeout, duration pause, time_point now) noexcept
{
    --under_way_;
    asked = std::min(asked, now);
    // An attempt with a short node timeout may fail for distance alone, which tells nothing about
    // the load. The distance is at most the shortest delay; in a crowd from the first moment on, it
    // is much less.
    const duration limit = node_timeout / small_part;
    if (now - asked > std::max(limit + limit / 2, delays_.shortest()))
        shrink(asked, strong_decrease, now);
    if (++failures_ >= failures_before_pause)
        closed_until_ = std::max(closed_until_, now + std::min(pause, longest_closure));
}

duration admission::long_delay(duration node_timeout) const noexcept
{
    return std::max(node_timeout / small_part, near_shortest * delays_.shortest());
}

void admission::abandon(duration node_timeout, time_point now)
{
    --under_way_;
    const time_point until = now + std::min(2 * delays_.usual(), node_timeout);
    // The ring must stay in order, so this one may count a little too long.
    abandoned_.push(abandoned_.empty() ? until : std::max(until, abandoned_.back()));
}

// Shrinks only once for all attempts that were under way together.
void admission::shrink(time_point asked, double factor, time_point now) noexcept
{
    if (asked < shrunk_at_)
        return;
    starting_ = false;
    shrunk_at_ = now;
    bound_ = std::max<double>(least, bound_ * factor);
}

} // namespace holdfast::core
