#include "recipes/reader_room.hpp"

#include <algorithm>

namespace holdfast::recipes {

void reader_room::arrive(reader who, bool once, time_point until, time_point now, steps& out)
{
    if (occupied() && now < open_until_) {
        ++inside_;
        out.push_back({.what = step::kind::admit, .who = who});
        return;
    }
    if (once && entering_) { // others wait already
        out.push_back({.what = step::kind::refuse, .who = who});
        return;
    }
    waiting_.push_back({who, once, until});
    if (!entering_)
        start_entry(out);
}

void reader_room::start_entry(steps& out)
{
    entering_ = true;
    entering_once_ = std::all_of(
        waiting_.begin(), waiting_.end(), [](const waiting& each) { return each.once; });
    entering_until_ = core::long_ago;
    for (const waiting& each : waiting_)
        entering_until_ = std::max(entering_until_, each.until);
    out.push_back({.what = step::kind::enter, .once = entering_once_, .until = entering_until_});
}

void reader_room::abandon(reader who, steps& out)
{
    std::erase_if(waiting_, [who](const waiting& each) { return each.who == who; });
    if (waiting_.empty() && entering_) {
        entering_ = false;
        out.push_back({.what = step::kind::cancel_entry});
    }
}

void reader_room::leave(visit which, steps& out)
{
    if (which != visit_ || inside_ == 0)
        return;
    if (--inside_ == 0)
        out.push_back({.what = step::kind::leave_slot});
}

void reader_room::entered(bool new_slot, time_point now, steps& out)
{
    entering_ = false;
    if (new_slot) {
        ++visit_;
        inside_ = 0; // of a visit whose lease has ended
    }
    open_until_ = now + open_for_;
    inside_ += waiting_.size();
    for (const waiting& each : waiting_)
        out.push_back({.what = step::kind::admit, .who = each.who});
    waiting_.clear();
}

void reader_room::entry_failed(error_code why, time_point now, steps& out)
{
    entering_ = false;
    const bool early = !entering_once_ && now < entering_until_;
    if (early) // waiting does not help
        refuse_if([](const waiting&) { return true; }, why, out);
    else if (entering_once_)
        refuse_if([](const waiting& each) { return each.once; }, why, out);
    else
        refuse_if([this](const waiting& each) { return each.until <= entering_until_; }, why, out);
    if (!waiting_.empty())
        start_entry(out);
}

void reader_room::lost(visit which) noexcept
{
    if (which == visit_)
        inside_ = 0;
}

void reader_room::expire(time_point now, steps& out)
{
    refuse_if([now](const waiting& each) { return !each.once && each.until <= now; },
        make_error_code(errc::contended), out);
    if (waiting_.empty() && entering_) {
        entering_ = false;
        out.push_back({.what = step::kind::cancel_entry});
    }
}

// The entry itself tells those that wait as long as it does.
time_point reader_room::next_deadline() const noexcept
{
    time_point next = core::never;
    for (const waiting& each : waiting_) {
        if (!each.once && (each.until != entering_until_ || entering_once_))
            next = std::min(next, each.until);
    }
    return next;
}

template <class Over>
void reader_room::refuse_if(Over over, error_code why, steps& out)
{
    for (const waiting& each : waiting_) {
        if (over(each))
            out.push_back({.what = step::kind::refuse, .who = each.who, .why = why});
    }
    std::erase_if(waiting_, over);
}

} // namespace holdfast::recipes
