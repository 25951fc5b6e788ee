#pragma once

namespace holdfast::test {

/// While it lives, this thread sleeps for a moment before and after each reading of the clock that
/// runs during suspension, as if the process had been stopped there.
class stalled_clock {
public:
    stalled_clock();
    stalled_clock(const stalled_clock&) = delete;
    stalled_clock& operator=(const stalled_clock&) = delete;
    ~stalled_clock();
};

} // namespace holdfast::test
