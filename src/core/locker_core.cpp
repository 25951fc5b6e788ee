#include "core/locker_core.hpp"

#include <algorithm>
#include <cassert>

namespace holdfast::core {

namespace {

// How long a closing locker keeps its connections for the clean-up when nothing is held any more.
constexpr duration closing_patience = std::chrono::milliseconds(500);

// Few attempts are made while results wait for longer than this for their handlers.
constexpr duration longest_lag = std::chrono::milliseconds(50);

// The pause after a refused attempt that finds no room in the backend's queues.
constexpr duration crowded_pause = std::chrono::seconds(1);

// After more failures in a row, it pays to ask when the resource will be free.
constexpr unsigned failures_before_watching = 1;

// The limit of a pause, as a multiple of the duration of the refused attempt.
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

slot_id locker_core::acquire(std::uint64_t tag, std::string_view resource,
    const lease_params& terms, std::chrono::milliseconds wait, bool once, time_point now)
{
    // For a single attempt, this bounds only the wait for admission.
    const bool asks_once = once || wait.count() == 0;
    const std::chrono::milliseconds in_line =
        asks_once ? std::max(wait,
                        std::chrono::ceil<std::chrono::milliseconds>(backend_.patience(terms.ttl)))
                  : wait;
    errc refusal{};
    if (closing_)
        refusal = errc::closed;
    else if (queues_.waiting() >= max_waiting_ ||
             (!admission_.is_cut_off() && forecast_.refuses(in_line_, in_line, now) &&
                 !queues_.contains(resource)))
        refusal = errc::overloaded;
    if (refusal != errc{}) {
        emit({.kind = effect_kind::wait_ended, .reason = refusal, .tag = tag});
        return 0;
    }

    const slot_id id = queues_.open(resource);
    const wait_queue& q = queues_.at(id);
    if (asks_once && (q.first != 0 || q.holder != 0)) { // a single attempt stays behind the queue
        const errc reason = once ? errc{} : errc::contended;
        emit({.kind = effect_kind::wait_ended, .reason = reason, .tag = tag});
        return 0;
    }

    const time_point ends = later(now, in_line);
    const slot_id w = queues_.append(
        id, {.tag = tag, .terms = terms, .ends = ends, .once = asks_once, .quiet = once});
    wait_ends_.set(slot_index(w), ends);
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
    const wait_queue& q = queues_.at(queue);
    const bool asked = w->last_error != errc{} || (q.first == id && q.asking != 0);
    if (only_if_unsent && asked)
        return false;
    leave(id, now);
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
            emit({.kind = effect_kind::must_stop, .lease = id});
        s.keeper.stop(now, s.terms.guard);
        arm(id);
    }
    absorb(now);
}

bool locker_core::note_lag(duration lag) noexcept
{
    const bool late = lag > longest_lag;
    admission_.hold_back(late);
    return late;
}

void locker_core::wake(time_point now, time_point heard)
{
    heard_ = std::min(now, heard);
    if (backend_.wake_at() <= now)
        backend_.wake(now, heard);
    absorb(now);

    while (const auto index = wait_ends_.pop_due(now)) {
        const slot_id id = queues_.wait_id_at(*index);
        end_wait(id, errc{}, now);
    }

    due_renewals_.clear();
    while (const auto index = lease_wakes_.pop_due(now))
        service_lease(leases_.id_at(*index), now);
    if (!due_renewals_.empty())
        backend_.renew(due_renewals_, false, now);
    due_renewals_.clear();
    absorb(now);

    // Last, when it is known which waits remain. Some backends refuse at once, hence the loop.
    while (queue_retries_.earliest() <= now) {
        while (const auto index = queue_retries_.pop_due(now))
            serve(queues_.queue_id_at(*index), now);
        absorb(now);
    }
}

time_point locker_core::wake_at() const noexcept
{
    if (closed_)
        return never; // keys left on nodes end by their ttl
    return std::min({backend_.wake_at(), wait_ends_.earliest(), queue_retries_.earliest(),
        lease_wakes_.earliest(), close_at_, in_line_ != 0 ? admission_.opens_at() : never});
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
    stats.asking = admission_.under_way();
    stats.asking_limit = admission_.bound();
    stats.nodes = backend_.nodes();
}

// Releases and renewals go before new attempts.
void locker_core::absorb(time_point now)
{
    do
        absorb_events(now);
    while (in_line_ != 0 && admit_next(now));
    if (closing_ && !closed_)
        finish_closing(now);
}

void locker_core::absorb_events(time_point now)
{
    while (const auto event = backend_.next_event()) {
        switch (event->kind) {
        case event_kind::granted:
            on_granted(*event, now);
            break;
        case event_kind::refused:
            on_refused(*event, now);
            break;
        case event_kind::queued:
            park(event->tag);
            break;
        case event_kind::validity:
            on_validity(*event, now);
            break;
        case event_kind::lost:
            if (lease_slot* const s = leases_.find(event->tag); s && s->now == state::held)
                lose(event->tag, now);
            break;
        case event_kind::released:
            on_released(*event);
            break;
        case event_kind::no_remote_waiters:
            if (const lease_slot* const s = leases_.find(event->tag); s && s->now == state::held)
                queues_.at(s->queue).turns = 0; // more local turns keep no other process waiting
            break;
        case event_kind::free_hint:
            on_frees(*event, now);
            break;
        }
    }
}

void locker_core::on_granted(const backend_event& event, time_point now)
{
    wait_queue& q = queues_.at(leases_[event.tag].queue);
    assert(q.asking == event.tag && q.first != 0);
    const lease_slot& s = leases_[event.tag];
    if (s.counts_as == load::under_way)
        admission_.answered(event.valid.asked, backend_.patience(s.terms.ttl), in_line_ != 0, now);
    else
        withdraw(event.tag);
    q.asking = 0;
    q.failures = 0;
    q.last_error = errc{};
    q.in_turn = false;
    if (q.turns_since == long_ago)
        q.turns_since = now;
    if (q.closed_since == long_ago)
        q.closed_since = now;
    install(event.tag, event.valid, event.fence, now);
}

void locker_core::on_refused(const backend_event& event, time_point now)
{
    const slot_id queue = leases_[event.tag].queue;
    wait_queue& q = queues_.at(queue);
    q.asking = 0;
    const lease_slot& s = leases_[event.tag];
    const duration node_timeout = backend_.patience(s.terms.ttl);
    if (s.counts_as != load::under_way)
        withdraw(event.tag);
    else if (event.reason == errc::unreachable)
        admission_.unanswered(event.asked, node_timeout,
            pause_after(admission_.failures(), event.reason, duration(0)), now);
    else
        admission_.answered(event.asked, node_timeout, in_line_ != 0, now);
    forget(event.tag);
    --active_;
    ++(event.reason == errc::contended ? counts_.contended : counts_.unreachable);

    wait& w = queues_.wait_at(q.first);
    w.last_error = event.reason;
    q.last_error = event.reason;
    if (w.once || (is_hopeless(event.reason) && !event.transient))
        return end_wait(q.first, event.reason, now);

    ++q.failures;
    q.turns = 0;
    q.turns_since = long_ago;
    if (event.reason == errc::contended) // others get it
        q.closed_since = long_ago;
    if (event.reason == errc::contended && !q.in_turn && backend_.queues() &&
        parked_ < most_parked) {
        q.in_turn = true; // wait in the backend's queue instead of repeated attempts
        return ask(queue, now);
    }
    const duration held_up = now - std::min(now, event.asked);
    q.retry_at = now + pause_after(q.failures, event.reason, held_up);
    if (event.reason == errc::contended && parked_ >= most_parked)
        q.retry_at = std::max(q.retry_at, now + jitter_.between(crowded_pause / 2, crowded_pause));
    queue_retries_.set(slot_index(queue), q.retry_at);
    if (event.reason == errc::contended && q.failures > failures_before_watching)
        backend_.watch(queue, q.resource, now);
}

// A failing attempt keeps others out while it lasts. If a node is slow, that is long. With pauses
// that are short in comparison, several clients could block each other for ever.
duration locker_core::pause_after(unsigned failures, errc reason, duration held_up)
{
    if (reason != errc::contended)
        held_up = duration(0);
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

    // If the resource is free already, other clients know it too. Keep the random pause, so as not
    // to collide with them. Otherwise add a little jitter, because they wait for the same instant.
    if (event.free_at <= now || event.free_at > q->retry_at)
        return;
    q->retry_at = std::min(q->retry_at, event.free_at + jitter_.between(duration(0), retry_min_));
    queue_retries_.set(slot_index(queue), q->retry_at);
}

// Closes the connections when nothing is held any more and all deletions are confirmed. Also closes
// them when confirmations have stopped, although all requests were sent and all input was read.
void locker_core::finish_closing(time_point now)
{
    if (active_ != 0)
        return;
    if (!std::exchange(wound_up_, true))
        backend_.wind_up(now);
    const std::size_t left = backend_.cleaning_up(), unsent = backend_.unsent();
    if (close_at_ == never || left < left_to_clean_ || unsent < left_to_send_)
        close_at_ = now + closing_patience;
    left_to_clean_ = left;
    left_to_send_ = unsent;
    if (left != 0 && heard_ < close_at_)
        return;
    closed_ = true;
    close_at_ = never;
    backend_.close(now);
    emit({.kind = effect_kind::closed});
}

} // namespace holdfast::core
