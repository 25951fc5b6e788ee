#pragma once

#include "core/time.hpp"

#include <chrono>
#include <cstddef>

namespace holdfast::core {

// Predicts how long a newcomer waits in the line for admission, from the length of the line and the
// rate at which it moves. A newcomer that cannot be admitted within its wait is refused at once:
// that costs a fraction of a wait that ends without an attempt, and the difference is what an
// overloaded process needs for the rest.
//
// A line that has been standing for as long as a newcomer would wait is no burst, but a lasting
// overload. Then a long line is of no use: it only makes all wait longer. It is kept short.
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

    double rate_ = 0; // admissions a second while others wait; 0: not known
    std::size_t in_window_ = 0;
    time_point window_began_ = never, standing_since_ = never;
};

} // namespace holdfast::core
