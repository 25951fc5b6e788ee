#include "core/admission_line.hpp"

#include <cassert>
#include <utility>

namespace holdfast::core {

slot_id admission_line::join(slot_id waiter, time_point now)
{
    if (is_empty())
        forecast_.began(now);
    const slot_id id = places_.take();
    places_[id] = {.waiter = waiter, .before = last_, .behind = 0};
    (last_ != 0 ? places_[last_].behind : first_) = id;
    last_ = id;
    return id;
}

void admission_line::leave(slot_id id)
{
    const place& p = places_[id];
    (p.before != 0 ? places_[p.before].behind : first_) = p.behind;
    (p.behind != 0 ? places_[p.behind].before : last_) = p.before;
    places_.give_back(id);
    if (is_empty())
        forecast_.ended();
}

slot_id admission_line::next(time_point now)
{
    if (is_empty() || !admission_.is_open(now))
        return 0;
    const slot_id waiter = places_[first_].waiter;
    leave(first_);
    return waiter;
}

void admission_line::admitted(time_point now) noexcept
{
    if (!admission_.is_cut_off()) // what is tried then says nothing of the rate
        forecast_.admitted(now);
}

attempt_load admission_line::began() noexcept
{
    admission_.begin();
    return attempt_load::under_way;
}

void admission_line::park(attempt_load& load) noexcept
{
    if (load != attempt_load::under_way)
        return;
    admission_.leave();
    load = attempt_load::parked;
    ++parked_;
}

bool admission_line::unpark(attempt_load& load) noexcept
{
    const attempt_load was = std::exchange(load, attempt_load::none);
    if (was == attempt_load::parked)
        --parked_;
    return was == attempt_load::parked;
}

void admission_line::answered(
    attempt_load& load, time_point asked, duration node_timeout, time_point now) noexcept
{
    if (!unpark(load))
        admission_.answered(asked, node_timeout, !is_empty(), now);
}

void admission_line::unanswered(attempt_load& load, time_point asked, duration node_timeout,
    duration pause, time_point now) noexcept
{
    assert(load == attempt_load::under_way);
    load = attempt_load::none;
    admission_.unanswered(asked, node_timeout, pause, now);
}

void admission_line::abandon(attempt_load& load, duration node_timeout, time_point now)
{
    if (!unpark(load))
        admission_.abandon(node_timeout, now);
}

} // namespace holdfast::core
