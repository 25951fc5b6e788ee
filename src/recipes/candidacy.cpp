#include "recipes/candidacy.hpp"

namespace holdfast::recipes {

candidacy::action candidacy::begin(bool healthy, time_point now)
{
    return woken(healthy, now);
}

candidacy::action candidacy::woken(bool healthy, time_point now)
{
    if (state_ == state::stopping || state_ == state::over)
        return action::none;
    wake_at_ = now + check_every_;
    switch (state_) {
    case state::unhealthy:
    case state::pausing:
        state_ = healthy ? state::campaigning : state::unhealthy;
        return healthy ? action::campaign : action::none;
    case state::campaigning:
        if (healthy)
            return action::none;
        state_ = state::unhealthy;
        return action::stop_campaign;
    default:
        return healthy ? action::none : stop();
    }
}

candidacy::action candidacy::granted(bool healthy, time_point now)
{
    if (cancelled_)
        return finish();
    if (state_ != state::campaigning || !healthy)
        return pause(action::release, now);
    state_ = state::leading;
    wake_at_ = now + check_every_;
    return action::start_work;
}

candidacy::action candidacy::refused(bool lasting, time_point now)
{
    if (cancelled_ || lasting)
        return finish();
    if (state_ == state::unhealthy)
        return action::none; // this campaign was stopped
    return pause(action::none, now);
}

candidacy::action candidacy::lost()
{
    return stop();
}

candidacy::action candidacy::resign()
{
    return stop();
}

candidacy::action candidacy::stop()
{
    if (state_ != state::leading)
        return action::none;
    state_ = state::stopping;
    wake_at_ = core::never;
    return action::stop_work;
}

candidacy::action candidacy::cancel()
{
    cancelled_ = true;
    switch (state_) {
    case state::leading:
        return stop();
    case state::campaigning:
        wake_at_ = core::never;
        return action::stop_campaign;
    case state::unhealthy:
    case state::pausing:
        return finish();
    case state::stopping:
    case state::over:
        break;
    }
    return action::none;
}

candidacy::action candidacy::work_ended(work_end how, time_point now)
{
    const bool told = state_ == state::stopping;
    const bool done = how == work_end::failed || !told;
    if (cancelled_ || done)
        return finish();
    failures_ = 0;
    return pause(action::release, now);
}

candidacy::action candidacy::finish()
{
    state_ = state::over;
    wake_at_ = core::never;
    return action::finish;
}

// Longer after each failure in a row. A term ends this.
candidacy::action candidacy::pause(action then, time_point now)
{
    ++failures_;
    state_ = state::pausing;
    wake_at_ = now + pause_min_ + core::backoff(failures_, pause_min_, pause_max_, random_);
    return then;
}

} // namespace holdfast::recipes
