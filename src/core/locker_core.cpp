#include "core/locker_core.hpp"

#include <algorithm>
#include <cassert>

namespace holdfast::core {

namespace {

// How long connections are kept for the clean-up when a locker closes and nothing is held any more.
constexpr duration closing_patience = std::chrono::milliseconds(500);

// More failures than this in a row, and it pays to ask when the resource will be free.
constexpr unsigned failures_before_watching = 1;

// A pause may be so many times as long as an attempt took, if it was refused.
constexpr int longest_pause_in_attempts = 8;

bool is_hopeless(errc reason)
{
    return make_error_code(reason) == condition::misconfigured;
}

} // namespace

locker_core::locker_core(backend_core& backend, entropy& random, const locker_options& options,
    std::uint64_t jitter_seed)
    : backend_(backend),
      entropy_(random),
      retry_min_(options.retry_min),
      retry_max_(options.retry_max),
      max_waiting_(options.max_waiting),
      jitter_(jitter_seed)
{}

slot_id locker_core::acquire(std::uint64_t tag, std::string_view resource, const lease_terms& terms,
    std::chrono::milliseconds wait, bool once, time_point now)
{
    errc refusal{};
    if (closing_)
        refusal = errc::closed;
    else if (queues_.waiting() >= max_waiting_)
        refusal = errc::overloaded;
    if (refusal != errc{}) {
        emit({.kind = effect::what::wait_ended, .reason = refusal, .tag = tag});
        return 0;
    }

    const slot_id id = queues_.open(resource);
    const wait_queue& q = queues_.at(id);
    const bool single = once || wait.count() == 0;
    if (single && (q.first != 0 || q.holder != 0)) { // nobody overtakes the queue
        const errc reason = once ? errc{} : errc::contended;
        emit({.kind = effect::what::wait_ended, .reason = reason, .tag = tag});
        return 0;
    }

    const slot_id w =
        queues_.append(id, {.tag = tag, .terms = terms, .once = single, .quiet = once});
    if (!single)
        wait_ends_.set(slot_index(w), later(now, wait));
    if (q.first == w)
        serve(id, now);
    absorb(now);
    return w;
}

bool locker_core::cancel(slot_id id, bool only_if_unsent, time_point now)
{
    wait* const w = queues_.find_wait(id);
    if (w == nullptr)
        return false;
    const slot_id queue = w->queue;
    wait_queue& q = queues_.at(queue);
    if (q.first == id && q.asking != 0) {
        if (only_if_unsent)
            return false;
        abandon_attempt(q, nullptr, now);
    } else if (only_if_unsent && w->last_error != errc{}) {
        return false;
    }
    wait_ends_.erase(slot_index(id));
    queues_.remove(id);
    serve(queue, now);
    absorb(now);
    return true;
}

void locker_core::close(time_point now)
{
    if (closing_)
        return;
    closing_ = true;
    for (std::uint32_t i = 0; i < queues_.wait_capacity(); ++i) {
        if (const slot_id w = queues_.wait_id_at(i); w != 0)
            end_wait(w, errc::closed, now);
    }
    for (std::uint32_t i = 0; i < leases_.capacity(); ++i) {
        const slot_id id = leases_.id_at(i);
        if (id == 0 || leases_[id].now != state::held)
            continue;
        lease_slot& s = leases_[id];
        if (s.keeper.where() == lease_keeper::phase::kept)
            emit({.kind = effect::what::must_stop, .lease = id});
        s.keeper.stop(now, s.terms.guard);
        arm(id);
    }
    absorb(now);
}

void locker_core::wake(time_point now)
{
    if (backend_.wake_at() <= now)
        backend_.wake(now);
    absorb(now);

    while (const auto index = wait_ends_.pop_due(now)) {
        const slot_id id = queues_.wait_id_at(*index);
        end_wait(id, errc{}, now);
    }

    due_renewals_.clear();
    while (const auto index = lease_wakes_.pop_due(now))
        look_after(leases_.id_at(*index), now);
    if (!due_renewals_.empty())
        backend_.renew(due_renewals_, false, now);
    due_renewals_.clear();
    absorb(now);

    // Last, when it is known who still waits. Some backends refuse at once, and so on.
    while (queue_retries_.earliest() <= now) {
        while (const auto index = queue_retries_.pop_due(now))
            serve(queues_.queue_id_at(*index), now);
        absorb(now);
    }
}

time_point locker_core::wake_at() const noexcept
{
    if (closed_)
        return never; // what nodes may still hold of ours ends by itself
    return std::min({backend_.wake_at(), wait_ends_.earliest(), queue_retries_.earliest(),
        lease_wakes_.earliest(), close_at_});
}

std::optional<effect> locker_core::next_effect()
{
    if (effects_.empty())
        return std::nullopt;
    return effects_.pop();
}

void locker_core::add_to(locker_stats& stats) const
{
    stats = counts_;
    stats.held = held_;
    stats.waiting = queues_.waiting();
    stats.nodes = backend_.nodes();
}

void locker_core::absorb(time_point now)
{
    while (const auto event = backend_.next_event()) {
        switch (event->kind) {
        case backend_event::what::granted:
            on_granted(*event, now);
            break;
        case backend_event::what::refused:
            on_refused(*event, now);
            break;
        case backend_event::what::validity:
            on_validity(*event, now);
            break;
        case backend_event::what::lost:
            if (lease_slot* const s = leases_.find(event->tag); s && s->now == state::held)
                lose(event->tag, now);
            break;
        case backend_event::what::released:
            on_released(*event);
            break;
        case backend_event::what::frees:
            on_frees(*event, now);
            break;
        }
    }
    if (closing_ && !closed_)
        finish_closing(now);
}

void locker_core::on_granted(const backend_event& event, time_point now)
{
    lease_slot& s = leases_[event.tag];
    wait_queue& q = queues_.at(s.queue);
    assert(q.asking == event.tag && q.first != 0);

    s.now = state::held;
    s.keeper =
        lease_keeper(s.terms, s.asked, now, event.valid_until, backend_.patience(s.terms.ttl));
    q.holder = event.tag;
    q.asking = 0;
    q.failures = 0;
    q.last_error = errc{};
    if (q.turns_since == long_ago)
        q.turns_since = now;
    ++held_;
    ++counts_.acquired;

    const slot_id w = q.first;
    emit({.kind = effect::what::acquired,
        .tag = queues_.wait_at(w).tag,
        .lease = event.tag,
        .fence = event.fence});
    wait_ends_.erase(slot_index(w));
    queues_.remove(w);
    arm(event.tag);
}

void locker_core::on_refused(const backend_event& event, time_point now)
{
    const slot_id queue = leases_[event.tag].queue;
    const duration took = now - leases_[event.tag].asked;
    wait_queue& q = queues_.at(queue);
    q.asking = 0;
    forget(event.tag);
    --active_;
    ++(event.reason == errc::contended ? counts_.contended : counts_.unreachable);

    wait& w = queues_.wait_at(q.first);
    w.last_error = event.reason;
    q.last_error = event.reason;
    if (w.once || is_hopeless(event.reason))
        return end_wait(q.first, event.reason, now);

    ++q.failures;
    q.turns = 0;
    q.turns_since = long_ago;
    q.retry_at = now + pause_after(q.failures, event.reason, took);
    queue_retries_.set(slot_index(queue), q.retry_at);
    if (event.reason == errc::contended && q.failures > failures_before_watching)
        backend_.watch(queue, q.resource, now);
}

// An attempt that fails keeps others out for as long as it takes. When that is long, because a node
// is slow, pauses that are short against it would let several go on thwarting each other for ever.
duration locker_core::pause_after(unsigned failures, errc reason, duration took)
{
    const duration held_up = reason == errc::contended ? took : duration(0);
    return backoff(failures, std::max(retry_min_, held_up),
        std::max(retry_max_, held_up * longest_pause_in_attempts), jitter_);
}

void locker_core::on_frees(const backend_event& event, time_point now)
{
    const slot_id queue = event.tag;
    wait_queue* const q = queues_.find(queue);
    if (q == nullptr || q->first == 0 || q->asking != 0 || q->holder != 0)
        return;
    if (event.reason != errc{})
        return end_wait(q->first, event.reason, now);

    // If it is free already, we collide with others who know it too: the random pause stands.
    // Otherwise spread out a little, because they wait for the same instant.
    if (event.valid_until <= now || event.valid_until > q->retry_at)
        return;
    q->retry_at =
        std::min(q->retry_at, event.valid_until + jitter_.between(duration(0), retry_min_));
    queue_retries_.set(slot_index(queue), q->retry_at);
}

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
        return queues_.close_if_unused(queue);
    }
    if (q.asking != 0 || q.holder != 0 || closing_)
        return;
    if (now < q.retry_at)
        queue_retries_.set(slot_index(queue), q.retry_at);
    else
        ask(queue, now);
}

void locker_core::ask(slot_id queue, time_point now)
{
    queue_retries_.erase(slot_index(queue));
    wait_queue& q = queues_.at(queue);
    const wait& w = queues_.wait_at(q.first);
    const auto token = owner_token::make(entropy_);
    if (!token)
        return end_wait(q.first, errc::no_random_bits, now);

    const slot_id lease = leases_.take();
    lease_slot& s = leases_[lease];
    s = lease_slot{};
    s.queue = queue;
    s.terms = w.terms;
    s.asked = now;
    q.asking = lease;
    ++active_;
    ++counts_.attempts;
    const claim_terms terms{.ttl = w.terms.ttl, .drift = w.terms.drift, .useful = w.terms.guard};
    s.claim = backend_.attempt(lease, q.resource, *token, terms, now);
}

// The local holder is gone. The next one follows at once, unless other processes are due a turn.
void locker_core::end_turn(slot_id queue, time_point now)
{
    wait_queue& q = queues_.at(queue);
    q.holder = 0;
    if (q.first != 0) {
        const lease_terms& terms = queues_.wait_at(q.first).terms;
        const bool spent =
            ++q.turns > terms.handoff_limit || now - q.turns_since >= terms.handoff_time;
        q.retry_at = long_ago;
        if (spent) {
            q.turns = 0;
            q.turns_since = long_ago;
            q.retry_at = now + jitter_.between(retry_min_ / 2, retry_min_);
        }
    }
    serve(queue, now);
}

void locker_core::end_wait(slot_id id, errc reason, time_point now)
{
    const wait w = queues_.wait_at(id);
    wait_queue& q = queues_.at(w.queue);
    // Those before us were in our way, or what was in theirs.
    errc why = q.last_error != errc{} ? q.last_error : errc::contended;
    if (q.first == id && q.asking != 0) {
        errc cut_short{};
        abandon_attempt(q, &cut_short, now);
        // Refusals are certain; of silence, the last attempt that ended tells more.
        if (q.last_error == errc{} || cut_short == errc::contended)
            why = q.last_error = cut_short;
    }
    if (reason == errc{}) // time is up
        reason = w.last_error != errc{} ? w.last_error : why;
    if (w.quiet && reason == errc::contended)
        reason = errc{};
    emit({.kind = effect::what::wait_ended, .reason = reason, .tag = w.tag});
    wait_ends_.erase(slot_index(id));
    queues_.remove(id);
    serve_soon(w.queue, now);
}

void locker_core::abandon_attempt(wait_queue& queue, errc* reason, time_point now)
{
    const errc why = backend_.abandon(leases_[queue.asking].claim, now);
    if (reason != nullptr)
        *reason = why;
    forget(queue.asking);
    --active_;
    queue.asking = 0;
}

// Connections go when nothing is held any more and what was given back has been confirmed, or has
// had its time.
void locker_core::finish_closing(time_point now)
{
    if (active_ != 0)
        return;
    if (close_at_ == never)
        close_at_ = now + closing_patience;
    if (!backend_.drained() && now < close_at_)
        return;
    closed_ = true;
    close_at_ = never;
    backend_.close(now);
    emit({.kind = effect::what::closed});
}

} // namespace holdfast::core
