#pragma once

#include "core/time.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace holdfast::core {

// Decides when a closing locker that holds nothing any more closes its connections: when all
// deletions are confirmed, or when confirmations have stopped, although all requests were sent and
// all input was read.
class closing {
public:
    // How long to keep the connections for the clean-up after the last progress.
    static constexpr duration patience = std::chrono::milliseconds(500);

    void begin() noexcept { begun_ = true; }
    bool begun() const noexcept { return begun_; }
    bool done() const noexcept { return done_; }

    // All input that had arrived by then has been read.
    void note_heard(time_point heard) noexcept { heard_ = heard; }

    // To be called when nothing is held any more. True the first time: the backend winds up.
    bool winds_up() noexcept { return !std::exchange(wound_up_, true); }
    // Nothing is held, `left` deletions are under way, and `unsent` bytes wait. True if the
    // connections are to be closed now, which ends the closing.
    bool ends(std::size_t left, std::size_t unsent, time_point now) noexcept
    {
        if (gives_up_at_ == never || left < left_ || unsent < unsent_)
            gives_up_at_ = now + patience;
        left_ = left;
        unsent_ = unsent;
        if (left != 0 && heard_ < gives_up_at_)
            return false;
        done_ = true;
        gives_up_at_ = never;
        return true;
    }

    // When to call `ends()` again.
    time_point wake_at() const noexcept { return gives_up_at_; }

private:
    bool begun_ = false, wound_up_ = false, done_ = false;
    time_point gives_up_at_ = never;
    std::size_t left_ = 0, unsent_ = 0; // when `gives_up_at_` was set
    time_point heard_ = long_ago;
};

} // namespace holdfast::core
