#include "core/admission.hpp"

#include <algorithm>

namespace holdfast::core {

namespace {

// A delay up to this fraction of the node timeout (1 / small_part) is not long. The bound does not
// grow at delays above 1 / large_part of the node timeout.
constexpr int small_part = 32, large_part = 2;

// A delay up to this multiple of the shortest delay is not long either: some nodes are far away.
constexpr int near_shortest = 2;

// The expected delay allows the excess over the shortest delay to grow by this factor.
constexpr int spare = 4;

// The shortest delay is taken over the last one or two periods of this length.
constexpr duration memory = std::chrono::minutes(5);

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
    note_delay(delay, now);
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
    const duration limit = long_delay(node_timeout);
    if (now - asked > limit + limit / 2)
        shrink(asked, strong_decrease, now);
    if (++failures_ >= failures_before_pause)
        closed_until_ = std::max(closed_until_, now + pause);
}

// The shortest delay counts because an attempt with a short node timeout may fail for distance
// alone, which tells nothing about the load.
duration admission::long_delay(duration node_timeout) const noexcept
{
    return std::max(node_timeout / small_part, near_shortest * shortest_delay());
}

duration admission::shortest_delay() const noexcept
{
    const duration seen = std::min(shortest_, shortest_before_);
    return seen == duration::max() ? duration(0) : seen;
}

duration admission::expected_delay() const noexcept
{
    const duration least_possible = shortest_delay();
    return least_possible + spare * (usual_delay_ - std::min(usual_delay_, least_possible));
}

void admission::abandon(duration node_timeout, time_point now)
{
    --under_way_;
    const time_point until = now + std::min(2 * usual_delay_, node_timeout);
    // The ring must stay in order, so this one may count a little too long.
    abandoned_.push(abandoned_.empty() ? until : std::max(until, abandoned_.back()));
}

void admission::note_delay(duration delay, time_point now) noexcept
{
    if (shortest_since_ == long_ago || now - shortest_since_ >= memory) {
        shortest_before_ = shortest_;
        shortest_ = duration::max();
        shortest_since_ = now;
    }
    shortest_ = std::min(shortest_, delay);
    usual_delay_ += (delay - usual_delay_) / 16;
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
