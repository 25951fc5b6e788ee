#include "core/admission.hpp"

#include <algorithm>

namespace holdfast::core {

namespace {

// The part of the node timeout that a delay may be without being called long.
constexpr int small_part = 8, large_part = 2;

// A delay of so many times the shortest is not called long either: some nodes are far away.
constexpr int near_shortest = 2;

// The shortest delay is that of the last one or two such times.
constexpr duration memory = std::chrono::minutes(5);

constexpr double growth = 1.0 / 16; // for each answer, once it was too large before
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
    const duration base = std::min(shortest_, shortest_before_);
    const duration long_delay =
        std::clamp(base > node_timeout ? node_timeout : base * near_shortest,
            node_timeout / small_part, node_timeout / large_part);
    if (delay > long_delay + long_delay / 2)
        shrink(asked, decrease, now);
    else if (delay <= long_delay && wanted)
        bound_ = std::min<double>(most, bound_ + (starting_ ? 1 : growth));
}

void admission::unanswered(
    time_point asked, duration node_timeout, duration pause, time_point now) noexcept
{
    --under_way_;
    asked = std::min(asked, now);
    if (now - asked >= node_timeout / large_part)
        shrink(asked, strong_decrease, now);
    if (++failures_ >= failures_before_pause)
        closed_until_ = std::max(closed_until_, now + pause);
}

void admission::note_delay(duration delay, time_point now) noexcept
{
    if (shortest_since_ == long_ago || now - shortest_since_ >= memory) {
        shortest_before_ = shortest_;
        shortest_ = duration::max();
        shortest_since_ = now;
    }
    shortest_ = std::min(shortest_, delay);
}

// Once for all attempts that were under way together.
void admission::shrink(time_point asked, double factor, time_point now) noexcept
{
    if (asked < shrunk_at_)
        return;
    starting_ = false;
    shrunk_at_ = now;
    bound_ = std::max<double>(least, bound_ * factor);
}

} // namespace holdfast::core
