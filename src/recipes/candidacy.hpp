#pragma once

#include "core/backoff.hpp"
#include "core/time.hpp"

#include <cstdint>

namespace holdfast::recipes {

using core::duration;
using core::time_point;

// What a candidate of an election does next. It campaigns while it is healthy, leads while it holds
// the lease, and campaigns again after a pause when a term of office has ended early.
//
// A term ends for others only when the work has stopped: the lease is released after that, never
// before.
class candidacy {
public:
    enum class state : std::uint8_t {
        unhealthy,   // asks for its health again at wake_at()
        campaigning, // waits for the lease
        leading,     // the work runs
        stopping,    // the work was told to stop, and runs still
        pausing,     // campaigns again at wake_at()
        over,
    };
    enum class action : std::uint8_t {
        none,
        campaign,
        stop_campaign,
        start_work,
        stop_work,
        release, // the work has ended; then, if wake_at() is set, goes on at that time
        finish,  // as `release`, and this was the end
    };
    // How the work has ended.
    enum class work_end : std::uint8_t { returned, stopped, failed };

    candidacy(duration check_every, duration pause_min, duration pause_max, std::uint64_t seed)
        : check_every_(check_every),
          pause_min_(pause_min),
          pause_max_(pause_max),
          random_(seed)
    {}

    action begin(bool healthy, time_point now);
    // At wake_at(). `healthy` is asked for before.
    action woken(bool healthy, time_point now);
    action granted(bool healthy, time_point now);
    // The campaign has failed. `lasting`: waiting does not help.
    action refused(bool lasting, time_point now);
    action lost();   // the lease, or it is about to be
    action resign(); // gives the office to another candidate
    action cancel(); // for good
    action work_ended(work_end how, time_point now);

    state now_in() const noexcept { return state_; }
    time_point wake_at() const noexcept { return wake_at_; }

private:
    action campaign(time_point now);
    action pause(action then, time_point now);
    action stop();
    action finish();

    const duration check_every_, pause_min_, pause_max_;
    core::jitter random_;
    state state_ = state::unhealthy;
    time_point wake_at_ = core::never;
    unsigned failures_ = 0; // in a row
    bool cancelled_ = false;
};

} // namespace holdfast::recipes
