#include "core/delay_estimate.hpp"

#include <algorithm>

namespace holdfast::core {

namespace {

// The expected delay allows the excess over the shortest delay to grow by this factor.
constexpr int spare = 4;

// The shortest delay is taken over the last one or two periods of this length.
constexpr duration memory = std::chrono::minutes(5);

} // namespace

void delay_estimate::note(duration delay, time_point now) noexcept
{
    if (shortest_since_ == long_ago || now - shortest_since_ >= memory) {
        shortest_before_ = shortest_;
        shortest_ = duration::max();
        shortest_since_ = now;
    }
    shortest_ = std::min(shortest_, delay);
    usual_ += (delay - usual_) / 16;
}

duration delay_estimate::shortest() const noexcept
{
    const duration seen = std::min(shortest_, shortest_before_);
    return seen == duration::max() ? duration(0) : seen;
}

duration delay_estimate::expected() const noexcept
{
    const duration least_possible = shortest();
    return least_possible + spare * (usual_ - std::min(usual_, least_possible));
}

} // namespace holdfast::core
