// Turns in locker_core: which wait of a queue asks the backend, and which wait follows a holder.
#include "core/locker_core.hpp"
#include "core/params.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core {

namespace {

// Whether an attempt or a lease with the first terms can also serve a waiter with the second.
bool same_claim(const lease_params& a, const lease_params& b)
{
    return a.ttl == b.ttl && a.drift == b.drift && a.guard == b.guard;
}

} // namespace

// Serves the queue at the end of wake(): the next wait may be about to end as well.
void locker_core::serve_soon(slot_id queue, time_point now)
{
    const wait_queue& q = queues_.at(queue);
    if (q.first == 0)
        serve(queue, now);
    else if (q.asking == 0 && q.holder == 0 && !closing_)
        queue_retries_.set(slot_index(queue), std::max(now, q.retry_at));
}

// Makes an attempt for the first wait of a queue, if that is allowed now.
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
    if (line_.size() > 64 && line_.size() / 2 > in_line_) { // most entries have left: drop these
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

// False if no queue waits for admission, or none may be admitted.
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
        if (!admission_.is_cut_off()) // what is tried then says nothing of the rate
            forecast_.admitted(now);
        ask(id, now);
        return true;
    }
    return false;
}

// Under overload, the first waits in the line are nearly over. An attempt for them would fail and
// would delay others until they are nearly over as well. But an attempt for the first wait of a
// queue also serves the waits behind it, and a first wait with time to spare must not suffer from
// later waits without. So the later end of the first and the last wait counts.
bool locker_core::ends_before_an_answer(const wait_queue& q, time_point now) noexcept
{
    const wait& first = queues_.wait_at(q.first);
    const time_point ends = std::max(first.ends, queues_.wait_at(q.last).ends);
    return !first.once && ends != never && ends - now < admission_.expected_delay();
}

// The attempt waits for its turn in the backend. It costs almost nothing, and its duration says
// nothing about the load.
void locker_core::park(slot_id lease)
{
    lease_slot* const s = leases_.find(lease);
    if (s == nullptr || s->counts_as != load::under_way)
        return;
    admission_.leave();
    s->counts_as = load::parked;
    ++parked_;
}

// The attempt is over, and says nothing about the load.
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

// Gives the lease to the first wait of the queue.
void locker_core::install(
    slot_id lease, const validity& granted, std::optional<std::uint64_t> fence, time_point now)
{
    lease_slot& s = leases_[lease];
    wait_queue& q = queues_.at(s.queue);
    s.now = state::held;
    s.counts_as = load::none;
    lease_params kept = s.terms;
    kept.renews = kept.renews && !backend_.renews_itself();
    s.keeper = lease_keeper(kept, granted, now, backend_.patience(s.terms.ttl));
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

// Transfers a lease to the next waiter, without requests to the nodes. False if that is impossible:
// then the holder still has the lease.
bool locker_core::hand_over(slot_id lease, time_point now)
{
    lease_slot& from = leases_[lease];
    wait_queue& q = queues_.at(from.queue);
    if (q.first == 0 || closing_ || from.keeper.where() != lease_keeper::phase::kept)
        return false;
    const lease_params& terms = queues_.wait_at(q.first).terms;
    const validity granted = from.keeper.granted();
    if (turns_are_spent(q, now) || !same_claim(terms, from.terms) ||
        granted.until - terms.guard <= now || !backend_.can_transfer(from.claim))
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
        backend_.probe_waiters(to.claim, now); // early enough before the budget is spent
    ++counts_.handed_over;
    install(next, granted, fence, now);
    return true;
}

// Whether the time of local turns is over, regardless of their number.
bool locker_core::turns_are_over(const wait_queue& q, time_point now)
{
    return now - q.turns_since >= queues_.wait_at(q.first).terms.handoff_time;
}

// Whether local holders have used up their turns, so that other processes are due a turn.
bool locker_core::turns_are_spent(const wait_queue& q, time_point now)
{
    const lease_params& terms = queues_.wait_at(q.first).terms;
    if (turns_are_over(q, now))
        return true;
    // While a probe for other processes is unanswered, local turns go on: the answer comes sooner
    // than the nodes could grant anything.
    return q.turns >= terms.handoff_limit &&
           (q.holder == 0 || !backend_.probing_waiters(leases_[q.holder].claim));
}

// The short pause is enough for clients that poll as often as this one. The others get a window
// once in a period.
duration locker_core::pause_between_turns(wait_queue& q, time_point now)
{
    const polling_params polling = polling_of(queues_.wait_at(q.first).terms);
    if (polling.window_ms == 0 || now - q.closed_since < polling.period())
        return jitter_.between(retry_min_ / 2, retry_min_);
    q.closed_since = long_ago;
    return polling.window();
}

// The local holder and its lease are gone. The next waiter follows at once, unless other processes
// are due a turn.
void locker_core::end_turn(slot_id queue, time_point now)
{
    wait_queue& q = queues_.at(queue);
    q.holder = 0;
    q.retry_at = long_ago;
    if (q.first != 0 && turns_are_spent(q, now)) {
        q.turns = 0;
        q.turns_since = long_ago;
        q.in_turn = backend_.queues();
        if (!q.in_turn) // without a queue, others need a pause to find the resource free
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
    // Without an attempt of its own, the wait was blocked by those ahead of it, or by their error.
    errc why = q.last_error != errc{} ? q.last_error : errc::contended;
    if (q.last_error == errc{} && q.in_line && q.holder == 0)
        why = admission_.is_cut_off() ? errc::unreachable : errc::overloaded;
    if (q.first == id && q.asking != 0) {
        // A refusal is certain. If nodes are silent, the last completed attempt says more.
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

// Removes a wait from its queue. An attempt that is under way for it continues for the next wait,
// and so keeps its place in the backend's queue.
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
