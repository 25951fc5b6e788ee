#include "core/lease_keeper.hpp"

#include <algorithm>

namespace holdfast::core {

lease_keeper::lease_keeper(const lease_params& terms, const validity& granted, time_point since,
    duration patience) noexcept
    : valid_(granted),
      guard_(terms.guard),
      retry_(std::min(patience, granted.ttl / 10)),
      confirmed_(granted.asked),
      limit_(later(since, terms.max_hold)),
      renew_at_(next_renewal()),
      renews_(terms.renews),
      phase_(phase::kept)
{}

// A third of the ttl later, but on a common grid, so that leases of about the same age share a
// batch. Not before the store can tell anything newer, unless the time to stop is near.
time_point lease_keeper::next_renewal() const noexcept
{
    const time_point late = valid_.until - guard_ - valid_.ttl / 6;
    const time_point ideal =
        std::max(valid_.asked + valid_.ttl / 3, std::min(valid_.renewable_at, late));
    const duration grid = std::max<duration>(valid_.ttl / 128, std::chrono::milliseconds(1));
    return ideal - ideal.time_since_epoch() % grid;
}

lease_keeper::action lease_keeper::due(time_point now) noexcept
{
    if (phase_ == phase::ended)
        return action::none;
    if (now >= ends_at()) {
        phase_ = phase::ended;
        return action::end;
    }
    if (phase_ == phase::stopping)
        return action::none;
    if (now >= ends_at() - guard_) {
        phase_ = phase::stopping;
        return action::stop_work;
    }
    if (renews_ && now >= renew_at_ && valid_.until < limit_)
        return action::renew;
    return action::none;
}

time_point lease_keeper::wake_at() const noexcept
{
    if (phase_ == phase::ended)
        return never;
    if (phase_ == phase::stopping)
        return ends_at();
    const time_point stop_at = ends_at() - guard_;
    return renews_ && valid_.until < limit_ ? std::min(stop_at, renew_at_) : stop_at;
}

void lease_keeper::renewal_sent(time_point now) noexcept
{
    renew_at_ = now + retry_; // the next try, unless a majority confirms
}

bool lease_keeper::changed(const validity& to, time_point now) noexcept
{
    if (phase_ != phase::kept || now >= ends_at() - guard_) {
        valid_.until = std::min(valid_.until, to.until);
        valid_.asked = std::min(valid_.asked, to.asked);
        return false;
    }
    const bool longer = to.until > valid_.until;
    valid_ = to;
    if (!longer)
        return false;
    renew_at_ = std::max(now, next_renewal());
    const bool renewed = to.asked > confirmed_;
    confirmed_ = std::max(confirmed_, to.asked);
    return renewed;
}

void lease_keeper::stop(time_point now, duration grace) noexcept
{
    if (phase_ == phase::kept)
        phase_ = phase::stopping;
    limit_ = std::min(limit_, now + grace);
}

} // namespace holdfast::core
