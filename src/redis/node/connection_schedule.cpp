#include "redis/node/connection_schedule.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

namespace {

// A shorter connection counts as a failure, so that we do not reconnect in a tight loop.
constexpr core::duration stable_after = std::chrono::milliseconds(100);

// A pause after a failure that a person must fix.
constexpr core::duration hopeless_pause = std::chrono::seconds(1);

} // namespace

bool connection_schedule::wake(core::time_point now) noexcept
{
    if (deadline_ > now)
        return false;
    deadline_ = core::never;
    if (phase_ == phase::idle || phase_ == phase::pausing) {
        begin(now);
        return false;
    }
    return phase_ == phase::searching || phase_ == phase::opening || phase_ == phase::greeting;
}

void connection_schedule::begin(core::time_point now) noexcept
{
    phase_ = settings_.sentinels || settings_.in_cluster ? phase::searching : phase::opening;
    set_deadline(now + settings_.connect_timeout); // includes the greeting
}

void connection_schedule::found(core::time_point now) noexcept
{
    phase_ = phase::opening;
    set_deadline(now + settings_.connect_timeout);
}

bool connection_schedule::opened() noexcept
{
    if (phase_ != phase::opening)
        return false;
    phase_ = phase::greeting;
    return true;
}

void connection_schedule::greeted(core::time_point now) noexcept
{
    phase_ = phase::ready;
    deadline_ = core::never;
    ready_since_ = now;
}

bool connection_schedule::give_up(bool hopeless, core::time_point now) noexcept
{
    if (phase_ == phase::shut || phase_ == phase::closing || phase_ == phase::pausing)
        return false;
    hopeless_ = hopeless;
    hopeful_ = is_ready() && now - ready_since_ > stable_after && !hopeless;
    failures_ = hopeful_ ? 0 : failures_ + 1;
    phase_ = phase::closing;
    deadline_ = core::never;
    return true;
}

void connection_schedule::closed(core::time_point now) noexcept
{
    if (phase_ != phase::closing)
        return;
    // The first attempt after a connection that worked is made at once: usually the node is back.
    core::duration pause{0};
    if (!hopeful_)
        pause = core::backoff(failures_, settings_.reconnect_min, settings_.reconnect_max, jitter_);
    if (hopeless_)
        pause = std::max(pause, std::min(hopeless_pause, settings_.reconnect_max));
    if (pause == core::duration(0)) {
        begin(now);
    } else {
        phase_ = phase::pausing;
        set_deadline(now + pause);
    }
}

bool connection_schedule::shut() noexcept
{
    deadline_ = core::never;
    return std::exchange(phase_, phase::shut) != phase::shut;
}

} // namespace holdfast::redis
