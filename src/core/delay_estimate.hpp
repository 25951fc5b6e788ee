#pragma once

#include "core/time.hpp"

namespace holdfast::core {

// The delays of answers: the usual one, and the shortest one that was seen lately.
class delay_estimate {
public:
    void note(duration delay, time_point now) noexcept;

    duration usual() const noexcept { return usual_; }
    // Zero before the first answer.
    duration shortest() const noexcept;
    // The delay to expect of an answer now, with some reserve.
    duration expected() const noexcept;

private:
    duration usual_{};
    duration shortest_ = duration::max(), shortest_before_ = duration::max(); // of two periods
    time_point shortest_since_ = long_ago;
};

} // namespace holdfast::core
