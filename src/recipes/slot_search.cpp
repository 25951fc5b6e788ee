#include "recipes/slot_search.hpp"

#include <algorithm>

namespace holdfast::recipes {

void slot_search::begin(time_point now, steps& out)
{
    sweep(now, out);
}

void slot_search::sweep(time_point now, steps& out)
{
    swept_ = 0;
    try_next(now, out);
}

void slot_search::try_next(time_point now, steps& out)
{
    while (swept_ < board_.slots() && (first_sweep_ || now < limit_.until)) {
        const std::size_t slot = (first_ + swept_++) % board_.slots();
        if (board_.waited_for(slot)) {
            std::erase(conflicts_, slot);
            continue;
        }
        trying_ = true;
        tried_ = slot;
        out.push_back({.what = step::kind::try_lock, .lock = slot, .until = limit_.until});
        return;
    }
    swept(now, out);
}

void slot_search::swept(time_point now, steps& out)
{
    first_sweep_ = false;
    if (limit_.once && !all_conflict()) {
        out.push_back({.what = step::kind::give_up});
        return;
    }
    if (places_.empty() && (limit_.until <= now || all_conflict())) {
        fail(out);
        return;
    }
    if (places_.empty())
        wait_in_more(out);
    out.push_back({.what = step::kind::wake, .until = now + interval_});
}

void slot_search::woken(time_point now, steps& out)
{
    if (trying_ || limit_.until <= now)
        return; // a wake that was for an earlier search, or the waits are about to end
    wait_in_more(out);
    sweep(now, out);
}

// Doubles the places. Chooses the slots that the fewest calls wait for, without conflicts.
void slot_search::wait_in_more(steps& out)
{
    const std::size_t wanted = std::min({board_.slots() - conflicts_.size(), most_places,
        std::max<std::size_t>(1, 2 * places_.size())});
    while (places_.size() < wanted) {
        std::size_t best = board_.slots();
        for (std::size_t i = 0; i < board_.slots(); ++i) {
            const std::size_t slot = (first_ + i) % board_.slots();
            if (!waits_in(slot) && !conflicts(slot) &&
                (best == board_.slots() || board_.waiting(slot) < board_.waiting(best)))
                best = slot;
        }
        places_.push_back(best);
        board_.join(best);
        out.push_back({.what = step::kind::wait_lock, .lock = best, .until = limit_.until});
    }
}

bool slot_search::waits_in(std::size_t slot) const noexcept
{
    return std::find(places_.begin(), places_.end(), slot) != places_.end();
}

bool slot_search::conflicts(std::size_t slot) const noexcept
{
    return std::find(conflicts_.begin(), conflicts_.end(), slot) != conflicts_.end();
}

void slot_search::granted(std::size_t slot, time_point, const lease_view&, steps& out)
{
    out.push_back({.what = step::kind::succeed, .lock = slot});
}

void slot_search::refused(std::size_t slot, error_code why, time_point now, steps& out)
{
    const bool conflict = why == errc::key_conflict;
    std::erase(conflicts_, slot);
    if (conflict)
        conflicts_.push_back(slot);
    else if (why)
        error_ = why;
    if (trying_ && slot == tried_) {
        trying_ = false;
        if (!why || conflict)
            try_next(now, out);
        else if (limit_.once || (why == errc::closed && places_.empty()))
            fail(out);
        else // the next slot would fail as well: wait until the nodes are better
            swept(now, out);
        return;
    }
    board_.leave(slot);
    std::erase(places_, slot);
    if (!places_.empty() || trying_)
        return;
    if (conflict && now < limit_.until)
        wait_in_more(out);
    if (places_.empty())
        fail(out);
}

void slot_search::fail(steps& out)
{
    const errc usual = all_conflict() ? errc::key_conflict : errc::contended;
    const error_code why = error_ && !all_conflict() ? error_ : make_error_code(usual);
    out.push_back({.what = step::kind::give_up, .why = why});
}

void slot_search::end() noexcept
{
    for (const std::size_t slot : places_)
        board_.leave(slot);
    places_.clear();
}

} // namespace holdfast::recipes
