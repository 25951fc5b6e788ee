#include "core/line_forecast.hpp"

#include <algorithm>

namespace holdfast::core {

namespace {

constexpr duration window = std::chrono::milliseconds(100);

// A rate that is not reached any more is forgotten by so much with each window: an outage of some
// seconds refuses few that could be served after it.
constexpr double forgetting = 0.95;

// The part of its wait that a newcomer may be predicted to spend in a line that lasts.
constexpr double part_of_wait = 0.25, whole_wait = 1.0;

// A rate that has become so much larger since the window before may go on growing.
constexpr double growth = 1.1;

} // namespace

void line_forecast::began(time_point now) noexcept
{
    standing_since_ = now;
    window_began_ = now;
    in_window_ = 0;
}

void line_forecast::admitted(time_point now) noexcept
{
    if (window_began_ != never && now - window_began_ >= window)
        end_window(now);
    ++in_window_;
}

void line_forecast::end_window(time_point now) noexcept
{
    const double seconds = std::chrono::duration<double>(now - window_began_).count();
    const double measured = static_cast<double>(in_window_) / seconds;
    growing_ = measured > rate_ * growth;
    rate_ = std::max(rate_ * forgetting, measured);
    window_began_ = now;
    in_window_ = 0;
}

bool line_forecast::refuses(
    std::size_t length, std::chrono::milliseconds wait, time_point now) const noexcept
{
    using seconds = std::chrono::duration<double>; // a wait may be as long as "for ever"
    if (rate_ == 0 || length == 0 || standing_since_ == never)
        return false;
    const seconds allowed(wait);
    const bool lasts = seconds(now - standing_since_) >= allowed;
    if (!lasts && growing_)
        return false;
    return static_cast<double>(length) >
           rate_ * allowed.count() * (lasts ? part_of_wait : whole_wait);
}

} // namespace holdfast::core
