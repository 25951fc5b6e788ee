#pragma once

#include "core/delay_estimate.hpp"
#include "core/ring.hpp"
#include "core/time.hpp"

#include <algorithm>
#include <cstddef>

namespace holdfast::core {

// Limits how many attempts are under way at once. An attempt that waits in the locker costs
// nothing. An attempt that waits on a connection, or in a node's input, times out, is deleted and
// is repeated, which is more work for nodes that are too slow already.
//
// The bound follows the delay from the sending of an attempt's requests to its answer. It grows
// while the delay is a small part of the node timeout, or close to the shortest delay seen lately.
// Otherwise it shrinks. Each process finds its own share of nodes that other processes use too.
// When no node answers any more, attempts are made rarely until one does.
//
// Source: L. Brakmo, S. O'Malley, L. Peterson, "TCP Vegas", 1994 (the delay indicates the load); N.
// Bronson et al., "Metastable failures in distributed systems", 2021 (why a bound is necessary).
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
    // When the next attempt may begin, if that depends on time only. `never`: another attempt has
    // to end first.
    time_point opens_at() const noexcept
    {
        if (has_room())
            return closed_until_;
        return abandoned_.empty() ? never : abandoned_.front();
    }
    // Makes few attempts at once while this process does not keep up with its own results: more of
    // them would only wait for their handlers.
    void hold_back(bool is_late) noexcept { held_back_ = is_late; }
    // The delay to expect of an answer now, with some reserve.
    duration expected_delay() const noexcept { return delays_.expected(); }

    void begin() noexcept { ++under_way_; }
    // The attempt is no longer under way. It says nothing about the load.
    void leave() noexcept { --under_way_; }
    // The attempt was given up, but its requests and those of its clean-up are still under way.
    void abandon(duration node_timeout, time_point now);
    // The attempt was answered: granted, or refused because others hold the resource. `asked`: when
    // its requests were sent. `node_timeout`: the time after which it would have failed. `wanted`:
    // others wait for its place.
    void answered(time_point asked, duration node_timeout, bool wanted, time_point now) noexcept;
    // So few nodes have answered that nothing could be decided. `pause`: how long to make no
    // attempts if this continues.
    void unanswered(
        time_point asked, duration node_timeout, duration pause, time_point now) noexcept;

    std::size_t under_way() const noexcept { return under_way_ + abandoned_.size(); }
    std::size_t bound() const noexcept { return static_cast<std::size_t>(bound_); }
    // Attempts in a row that were not answered.
    unsigned failures() const noexcept { return failures_; }
    // No node answers.
    bool is_cut_off() const noexcept { return failures_ >= failures_before_pause; }

private:
    static constexpr unsigned failures_before_pause = least;

    bool has_room() const noexcept
    {
        return under_way() < (held_back_ ? std::max(least, bound() / 4) : bound());
    }
    duration long_delay(duration node_timeout) const noexcept;
    void shrink(time_point asked, double factor, time_point now) noexcept;

    std::size_t under_way_ = 0;
    ring<time_point> abandoned_; // the times until which they count
    double bound_ = first;
    bool starting_ = true; // until the bound was too large for the first time
    time_point shrunk_at_ = long_ago;
    time_point closed_until_ = long_ago;
    bool held_back_ = false;
    unsigned failures_ = 0;
    delay_estimate delays_;
};

} // namespace holdfast::core
