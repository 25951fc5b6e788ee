#include "recipes/batch_line.hpp"

#include <limits>
#include <utility>

namespace holdfast::recipes {

using core::slot_id;
using core::time_point;

errc batch_line::refusal() const noexcept
{
    if (closed_)
        return errc::closed;
    return waiting_ < params_.max_queued ? errc{} : errc::overloaded;
}

slot_id batch_line::add(time_point now)
{
    const slot_id added = places_.take();
    places_[added] = {.number = ++numbers_, .since = now, .previous = last_};
    (last_ != 0 ? places_[last_].next : first_) = added;
    last_ = added;
    ++waiting_;
    return added;
}

bool batch_line::cancel(slot_id request, bool detach)
{
    const place* const p = places_.find(request);
    if (p == nullptr || (p->served && !detach))
        return false;
    if (p->served)
        batch_[p->number] = 0;
    else
        unlink(*p);
    places_.give_back(request);
    return true;
}

time_point batch_line::ask_at() const noexcept
{
    if (stage_ != stage::idle || waiting_ == 0)
        return core::never;
    if (waiting_ >= params_.max_batch)
        return core::long_ago;
    return places_.find(first_)->since + params_.gather;
}

batch_line::order batch_line::next(time_point now) noexcept
{
    const time_point at = ask_at();
    if (at <= now) {
        stage_ = stage::asking;
        asked_up_to_ = numbers_;
        return {action::acquire};
    }
    if (stage_ == stage::asking && waiting_ == 0)
        return {action::stop_asking};
    if (at != core::never)
        return {action::wake, at};
    return {closed_ && is_idle() && turns_ == 0 ? action::finish : action::none};
}

std::vector<slot_id> batch_line::refused()
{
    stage_ = stage::idle;
    return take_up_to(asked_up_to_);
}

void batch_line::granted() noexcept
{
    stage_ = stage::serving;
    ++turns_;
}

std::vector<slot_id> batch_line::begin_batch()
{
    batch_.clear();
    while (first_ != 0 && batch_.size() < params_.max_batch) {
        const slot_id next = first_;
        place& p = places_[next];
        unlink(p);
        p.served = true;
        p.number = batch_.size();
        batch_.push_back(next);
    }
    return batch_;
}

namespace {

// What is told to all callers of a batch.
error_code outcome_of(const detail::batch_ending& how, std::size_t requests) noexcept
{
    using kind = detail::batch_ending::kind;
    switch (how.body) {
    case kind::returned:
        if (how.lease_over)
            return make_error_code(errc::lease_lost);
        if (how.replies.value_or(requests) != requests)
            return make_error_code(errc::wrong_reply_count);
        return {};
    case kind::aborted:
        if (how.stopped || how.lease_over)
            return make_error_code(errc::lease_lost);
        break; // `operation_aborted` would say that the caller has cancelled
    case kind::error:
        return how.why;
    case kind::other_failure:
        break;
    }
    return make_error_code(errc::batch_failed);
}

} // namespace

batch_line::end_of_batch batch_line::end_batch(const detail::batch_ending& how)
{
    stage_ = stage::idle;
    const error_code outcome = outcome_of(how, batch_.size());
    for (const slot_id id : batch_) {
        if (id != 0)
            places_.give_back(id);
    }
    return {outcome, std::exchange(batch_, {})};
}

std::vector<slot_id> batch_line::close()
{
    closed_ = true;
    return take_up_to(std::numeric_limits<std::uint64_t>::max());
}

void batch_line::unlink(const place& p) noexcept
{
    (p.previous != 0 ? places_[p.previous].next : first_) = p.next;
    (p.next != 0 ? places_[p.next].previous : last_) = p.previous;
    --waiting_;
}

std::vector<slot_id> batch_line::take_up_to(std::uint64_t number)
{
    std::vector<slot_id> taken;
    while (first_ != 0 && places_[first_].number <= number) {
        taken.push_back(first_);
        unlink(places_[first_]);
        places_.give_back(taken.back());
    }
    return taken;
}

} // namespace holdfast::recipes
