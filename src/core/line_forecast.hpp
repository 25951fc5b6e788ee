#pragma once

#include "core/time.hpp"

#include <chrono>
#include <cstddef>

namespace holdfast::core {

// Refuses newcomers at once under a lasting overload. A line for admission that has been standing
// for as long as a newcomer would wait is no burst: more arrives than can be served. Then a long
// line is of no use. It only makes all wait longer, until most waits end without an attempt, and
// what they cost is missing for the rest.
//
// How long a newcomer would stand in line is predicted from the length of the line and the rate at
// which it moves. While the rate still grows, as it does when a burst begins, only a line that
// lasts is judged. Otherwise a newcomer is refused if its whole wait would be over before it is
// admitted, and under a lasting overload if a quarter of it would be.
//
// Source: B. Maurer, "Fail at Scale", ACM Queue 13(8), 2015 (controlled delay: a short limit once
// the queue has been standing for an interval).
class line_forecast {
public:
    // The first has joined an empty line; one has been admitted; nothing waits any more.
    void began(time_point now) noexcept;
    void admitted(time_point now) noexcept;
    void ended() noexcept { window_began_ = standing_since_ = never; }

    // Whether a newcomer that may wait so long should be refused.
    bool refuses(std::size_t length, std::chrono::milliseconds wait, time_point now) const noexcept;

private:
    void end_window(time_point now) noexcept;

    double rate_ = 0;      // admissions a second while others wait; 0: not known
    bool growing_ = false; // the rate, until the last window ended
    std::size_t in_window_ = 0;
    time_point window_began_ = never, standing_since_ = never;
};

} // namespace holdfast::core
