// Whose turn it is in locker_core: who of a queue asks the backend, and who follows a holder.
#include "core/locker_core.hpp"
#include "core/params.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core {

namespace {

// What an attempt or a lease that was asked for with the first can serve the second with as well.
bool same_claim(const lease_params& a, const lease_params& b)
{
    return a.ttl == b.ttl && a.drift == b.drift && a.guard == b.guard;
}

} // namespace

// The same at the end of wake(): whoever is next may be about to go as well.
void locker_core::serve_soon(slot_id queue, time_point now)
{
    const wait_queue& q = queues_.at(queue);
    if (q.first == 0)
        serve(queue, now);
    else if (q.asking == 0 && q.holder == 0 && !closing_)
        queue_retries_.set(slot_index(queue), std::max(now, q.retry_at));
}

// Lets the first of a queue ask the backend, if it may.
void locker_core::serve(slot_id queue, time_point now)
{
    wait_queue& q = queues_.at(queue);
    if (q.first == 0) {
        queue_retries_.erase(slot_index(queue));
        leave_line(q);
        return queues_.close_if_unused(queue);
    }
    if (q.asking != 0 || q.holder != 0 || closing_ || q.in_line)
        return;
    if (now < q.retry_at)
        queue_retries_.set(slot_index(queue), q.retry_at);
    else if (in_line_ == 0 && admission_.is_open(now))
        ask(queue, now);
    else
        stand_in_line(queue, now);
}

// First come, first served, over all resources.
void locker_core::stand_in_line(slot_id queue, time_point now)
{
    queue_retries_.erase(slot_index(queue));
    if (line_.size() > 64 && line_.size() / 2 > in_line_) { // most of it has left already
        for (std::size_t left = line_.size(); left != 0; --left) {
            const slot_id id = line_.pop();
            const wait_queue* const q = queues_.find(id);
            if (q != nullptr && q->in_line)
                line_.push(id);
        }
    }
    line_.push(queue);
    queues_.at(queue).in_line = true;
    if (in_line_++ == 0)
        forecast_.began(now);
}

void locker_core::leave_line(wait_queue& q) noexcept
{
    if (std::exchange(q.in_line, false) && --in_line_ == 0)
        forecast_.ended();
}

// False if nobody waits for admission, or nobody may be admitted.
bool locker_core::admit_next(time_point now)
{
    while (in_line_ != 0 && admission_.is_open(now)) {
        const slot_id id = line_.pop();
        wait_queue* const q = queues_.find(id);
        if (q == nullptr || !q->in_line)
            continue;
        leave_line(*q);
        if (ends_before_an_answer(*q, now)) {
            q->last_error = errc::overloaded;
            continue;
        }
        forecast_.admitted(now);
        ask(id, now);
        return true;
    }
    return false;
}

// Under overload the first in the line are those whose time is nearly over. An attempt for these
// would come to nothing, and keep others waiting until theirs is over as well. But one for the
// first of a queue serves those behind it, if its own time is over; and one with time to spare must
// not be kept waiting by those behind it who have none.
bool locker_core::ends_before_an_answer(const wait_queue& q, time_point now) noexcept
{
    const wait& first = queues_.wait_at(q.first);
    const time_point ends = std::max(first.ends, queues_.wait_at(q.last).ends);
    return !first.once && ends != never && ends - now < admission_.expected_delay();
}

// The attempt waits for its turn in the backend: it costs next to nothing, and takes as long as it
// takes.
void locker_core::park(slot_id lease)
{
    lease_slot* const s = leases_.find(lease);
    if (s == nullptr || s->counts_as != load::under_way)
        return;
    admission_.leave();
    s->counts_as = load::parked;
    ++parked_;
}

// The attempt is over, and tells nothing of how busy nodes are.
void locker_core::withdraw(slot_id lease) noexcept
{
    const load was = std::exchange(leases_[lease].counts_as, load::none);
    if (was == load::under_way)
        admission_.leave();
    else if (was == load::parked)
        --parked_;
}

void locker_core::ask(slot_id queue, time_point now)
{
    queue_retries_.erase(slot_index(queue));
    wait_queue& q = queues_.at(queue);
    const wait& w = queues_.wait_at(q.first);
    const auto token = owner_token::make(entropy_);
    if (!token)
        return end_wait(q.first, errc::no_random_bits, now);
    if (w.once)
        wait_ends_.erase(slot_index(q.first));

    const slot_id lease = leases_.take();
    lease_slot& s = leases_[lease];
    s = lease_slot{};
    s.queue = queue;
    s.terms = w.terms;
    s.counts_as = load::under_way;
    q.asking = lease;
    admission_.begin();
    ++active_;
    ++counts_.attempts;
    claim_params terms{.ttl = w.terms.ttl, .drift = w.terms.drift, .guard = w.terms.guard};
    terms.others_follow = q.first != q.last || q.turns > 0;
    terms.polling = polling_of(w.terms);
    if (!w.once && parked_ < most_parked)
        terms.queue = q.in_turn ? queueing::now : queueing::if_contended;
    s.claim = backend_.attempt(lease, q.resource, *token, terms, now);
}

// The first of a queue is given the lease.
void locker_core::install(slot_id lease, time_point asked, time_point valid_until,
    std::optional<std::uint64_t> fence, time_point now)
{
    lease_slot& s = leases_[lease];
    wait_queue& q = queues_.at(s.queue);
    s.now = state::held;
    s.counts_as = load::none;
    s.keeper = lease_keeper(s.terms, asked, now, valid_until, backend_.patience(s.terms.ttl));
    q.holder = lease;
    ++held_;
    ++counts_.acquired;

    const slot_id w = q.first;
    emit({.kind = effect_kind::acquired,
        .tag = queues_.wait_at(w).tag,
        .lease = lease,
        .fence = fence});
    wait_ends_.erase(slot_index(w));
    queues_.remove(w);
    arm(lease);
}

// Gives what a holder has to the next waiter, without a word to the nodes. False if that cannot be:
// then the holder still has it.
bool locker_core::hand_over(slot_id lease, time_point now)
{
    lease_slot& from = leases_[lease];
    wait_queue& q = queues_.at(from.queue);
    if (q.first == 0 || closing_ || from.keeper.where() != lease_keeper::phase::kept)
        return false;
    const lease_params& terms = queues_.wait_at(q.first).terms;
    const time_point valid_until = from.keeper.granted_until();
    if (turns_are_spent(q, now) || !same_claim(terms, from.terms) ||
        valid_until - terms.guard <= now || !backend_.can_transfer(from.claim))
        return false;

    stop_keeping(lease);
    emit({.kind = effect_kind::gone, .lease = lease});
    const slot_id next = leases_.take();
    lease_slot& to = leases_[next];
    to = lease_slot{};
    to.queue = from.queue;
    to.claim = from.claim;
    to.terms = terms;
    const auto fence = backend_.transfer(to.claim, next);
    ++active_;
    if (++q.turns == (terms.handoff_limit + 3) / 4)
        backend_.probe_waiters(to.claim, now); // in time before the budget is spent
    ++counts_.handed_over;
    const time_point asked = valid_until - (to.terms.ttl - to.terms.drift);
    install(next, asked, valid_until, fence, now);
    return true;
}

// Whether the next waiter may not follow any more, however few have.
bool locker_core::turns_are_over(const wait_queue& q, time_point now)
{
    return now - q.turns_since >= queues_.wait_at(q.first).terms.handoff_time;
}

// Whether local holders have followed each other for so long that other processes are due a turn.
bool locker_core::turns_are_spent(const wait_queue& q, time_point now)
{
    const lease_params& terms = queues_.wait_at(q.first).terms;
    if (turns_are_over(q, now))
        return true;
    // The answer whether there are others is waited for: it comes sooner than the nodes could grant
    // anything.
    return q.turns >= terms.handoff_limit &&
           (q.holder == 0 || !backend_.probing_waiters(leases_[q.holder].claim));
}

// Others who poll as often as we do need no more than a moment; the rest get a window in time.
duration locker_core::pause_between_turns(wait_queue& q, time_point now)
{
    const polling_params polling = polling_of(queues_.wait_at(q.first).terms);
    if (polling.window_ms == 0 || now - q.closed_since < polling.period())
        return jitter_.between(retry_min_ / 2, retry_min_);
    q.closed_since = long_ago;
    return polling.window();
}

// The local holder is gone, and what it had as well. The next one follows at once, unless other
// processes are due a turn.
void locker_core::end_turn(slot_id queue, time_point now)
{
    wait_queue& q = queues_.at(queue);
    q.holder = 0;
    q.retry_at = long_ago;
    if (q.first != 0 && turns_are_spent(q, now)) {
        q.turns = 0;
        q.turns_since = long_ago;
        q.in_turn = backend_.queues();
        if (!q.in_turn) // then others get their chance by luck
            q.retry_at = now + pause_between_turns(q, now);
    } else {
        ++q.turns;
    }
    serve(queue, now);
}

void locker_core::end_wait(slot_id id, errc reason, time_point now)
{
    const wait w = queues_.wait_at(id);
    wait_queue& q = queues_.at(w.queue);
    // Those before us were in our way, or what was in theirs.
    errc why = q.last_error != errc{} ? q.last_error : errc::contended;
    if (q.last_error == errc{} && q.in_line && q.holder == 0)
        why = admission_.is_cut_off() ? errc::unreachable : errc::overloaded;
    if (q.first == id && q.asking != 0) {
        // Refusals are certain; of silence, the last attempt that ended tells more.
        const errc cut_short = backend_.pending_error(leases_[q.asking].claim);
        if (q.last_error == errc{} || cut_short == errc::contended)
            why = q.last_error = cut_short;
    }
    if (reason == errc{}) // time is up
        reason = w.last_error != errc{} ? w.last_error : why;
    if (w.quiet && reason == errc::contended)
        reason = errc{};
    emit({.kind = effect_kind::wait_ended, .reason = reason, .tag = w.tag});
    leave(id, now);
    serve_soon(w.queue, now);
}

// Takes a wait out of its queue. An attempt that is under way for it goes on for the next one,
// which so keeps the place that it may have in the backend's queue.
void locker_core::leave(slot_id id, time_point now)
{
    wait_queue& q = queues_.at(queues_.wait_at(id).queue);
    const bool asking = q.first == id && q.asking != 0;
    wait_ends_.erase(slot_index(id));
    queues_.remove(id);
    if (!asking)
        return;
    lease_slot& s = leases_[q.asking];
    if (q.first != 0 && !closing_ && same_claim(queues_.wait_at(q.first).terms, s.terms)) {
        s.terms = queues_.wait_at(q.first).terms;
        return;
    }
    backend_.abandon(s.claim, now);
    if (s.counts_as == load::under_way) {
        admission_.abandon(backend_.patience(s.terms.ttl), now);
        s.counts_as = load::none;
    } else {
        withdraw(q.asking);
    }
    forget(q.asking);
    --active_;
    q.asking = 0;
}

} // namespace holdfast::core
