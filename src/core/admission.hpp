#pragma once

#include "core/ring.hpp"
#include "core/time.hpp"

#include <cstddef>

namespace holdfast::core {

// Bounds how many attempts are under way at once. An attempt that waits in the locker costs
// nothing; one that waits on a connection, or in a node's input, times out, is deleted and is made
// again, which is more work for those who are too slow already.
//
// The bound follows the time from when an attempt's requests leave until its answer is there. It
// grows while that is a small part of the node timeout, or close to the shortest time seen lately;
// it shrinks when it is not. Each process finds its own part of nodes that it shares with others.
// When nobody answers any more, attempts are made rarely until somebody does.
//
// Source: L. Brakmo, S. O'Malley, L. Peterson, "TCP Vegas", 1994 (the delay tells the load); N.
// Bronson et al., "Metastable failures in distributed systems", 2021 (why there must be a bound).
class admission {
public:
    static constexpr std::size_t least = 32, first = 128, most = 8192;

    // Whether an attempt may begin now.
    bool is_open(time_point now) noexcept
    {
        while (!abandoned_.empty() && abandoned_.front() <= now)
            abandoned_.pop();
        return has_room() && now >= closed_until_;
    }
    // When it may, as far as only time is missing; `never`: another one has to end.
    time_point opens_at() const noexcept
    {
        if (has_room())
            return closed_until_;
        return abandoned_.empty() ? never : abandoned_.front();
    }
    // What time an answer can be expected to take now, with something to spare.
    duration expected_delay() const noexcept;

    void begin() noexcept { ++under_way_; }
    // It is under way no more, and nothing is learnt of it.
    void leave() noexcept { --under_way_; }
    // It has been given up, but its requests, and those that clean up after it, are under way yet.
    void abandon(duration node_timeout, time_point now);
    // It has been answered: granted, or refused by others' holding. `asked`: when its requests
    // left. `node_timeout`: what it would have failed after. `wanted`: others wait for its place.
    void answered(time_point asked, duration node_timeout, bool wanted, time_point now) noexcept;
    // So few nodes have answered that nothing could be decided. `pause`: for how long nobody should
    // ask if that goes on.
    void unanswered(
        time_point asked, duration node_timeout, duration pause, time_point now) noexcept;

    std::size_t under_way() const noexcept { return under_way_ + abandoned_.size(); }
    std::size_t bound() const noexcept { return static_cast<std::size_t>(bound_); }
    // Attempts in a row that were not answered.
    unsigned failures() const noexcept { return failures_; }
    // Nobody answers.
    bool is_cut_off() const noexcept { return failures_ >= failures_before_pause; }

private:
    static constexpr unsigned failures_before_pause = least;

    bool has_room() const noexcept { return under_way() < bound(); }
    void note_delay(duration delay, time_point now) noexcept;
    duration long_delay(duration node_timeout) const noexcept;
    duration shortest_delay() const noexcept;
    void shrink(time_point asked, double factor, time_point now) noexcept;

    std::size_t under_way_ = 0;
    ring<time_point> abandoned_; // until when each counts
    double bound_ = first;
    bool starting_ = true; // until it was too large for the first time
    time_point shrunk_at_ = long_ago;
    time_point closed_until_ = long_ago;
    unsigned failures_ = 0;
    duration usual_delay_{};
    duration shortest_ = duration::max(), shortest_before_ = duration::max();
    time_point shortest_since_ = long_ago;
};

} // namespace holdfast::core
