#pragma once

#include "core/time.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace holdfast::core {

// Decides how a locker ends. While it drains, no lease is granted any more, and the holders may
// finish until their time is up. Then it closes: the holders must stop at once. When nothing is
// held any more, it closes its connections as soon as all deletions are confirmed, or when
// confirmations have stopped, although all requests were sent and all input was read.
class closing {
public:
    // How long to keep the connections for the clean-up after the last progress.
    static constexpr duration patience = std::chrono::milliseconds(500);

    // The holders may finish until then, or until the earliest of such times.
    void drain(time_point until) noexcept
    {
        drains_ = reports_ = true;
        if (!begun_) // otherwise they have been told already
            due_at_ = std::min(due_at_, until);
    }
    // No more leases are granted: draining or closing has begun.
    bool drains() const noexcept { return drains_; }
    // True if the time of the holders is up, once for each drain().
    bool stops_holders(time_point now) noexcept
    {
        if (now < due_at_ || begun_)
            return false;
        due_at_ = never;
        return true;
    }
    // To be called when nothing is held any more. True if this is to be reported: once for each
    // drain().
    bool ends_draining() noexcept
    {
        if (!begun_)
            due_at_ = never;
        return std::exchange(reports_, false);
    }

    void begin() noexcept
    {
        begun_ = drains_ = true;
        due_at_ = never;
    }
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
        if (due_at_ == never || left < left_ || unsent < unsent_)
            due_at_ = now + patience;
        left_ = left;
        unsent_ = unsent;
        if (left != 0 && heard_ < due_at_)
            return false;
        done_ = true;
        due_at_ = never;
        return true;
    }

    // When to call `stops_holders()` or `ends()` again.
    time_point wake_at() const noexcept { return due_at_; }

private:
    bool drains_ = false, reports_ = false;
    bool begun_ = false, wound_up_ = false, done_ = false;
    time_point due_at_ = never;         // the holders must stop; while it closes: it gives up
    std::size_t left_ = 0, unsent_ = 0; // when `due_at_` was set
    time_point heard_ = long_ago;
};

} // namespace holdfast::core
