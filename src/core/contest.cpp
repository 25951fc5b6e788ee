#include "core/contest.hpp"
#include "core/params.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace holdfast::core {

namespace {

// After more failures in a row, it pays to ask when the resource will be free.
constexpr unsigned failures_before_watching = 1;

bool is_hopeless(errc reason)
{
    return make_error_code(reason) == condition::misconfigured;
}

// Under overload, the first waits in the line are nearly over. An attempt for them would fail and
// would delay others until they are nearly over as well. But an attempt for the first wait of a
// queue also serves the waits behind it, and a first wait with time to spare must not suffer from
// later waits without. So the later end of the first and the last wait counts.
bool end_before_an_answer(const wait& first, const wait& last, time_point now, duration delay)
{
    const time_point ends = std::max(first.ends, last.ends);
    return !first.once && ends != never && ends - now < delay;
}

} // namespace

contest::contest(backend_core& backend, token_source& tokens, claim_slots& slots,
    wait_queues& queues, report& outcomes, const locker_options& options, std::uint64_t jitter_seed)
    : backend_(backend),
      tokens_(tokens),
      slots_(slots),
      queues_(queues),
      report_(outcomes),
      max_waiting_(options.max_waiting),
      pauses_(options.retry_min, options.retry_max, jitter_seed)
{}

slot_id contest::acquire(std::uint64_t tag, std::string_view resource, const lease_params& terms,
    std::chrono::milliseconds wait, bool once, time_point now)
{
    // For a single attempt, this bounds only the wait for admission.
    const bool asks_once = once || wait.count() == 0;
    const std::chrono::milliseconds in_line =
        asks_once ? std::max(wait,
                        std::chrono::ceil<std::chrono::milliseconds>(backend_.patience(terms.ttl)))
                  : wait;
    errc refusal{};
    if (over_)
        refusal = errc::closed;
    else if (terms.fails_fast && !asks_once)
        refusal = backend_.nodes().cut_off();
    if (refusal == errc{} && (queues_.waiting() >= max_waiting_ ||
                                 (line_.refuses(in_line, now) && !queues_.contains(resource))))
        refusal = errc::overloaded;
    if (refusal != errc{}) {
        report_.wait_ended(tag, refusal);
        report_.notes().wait_failed(tag, resource, refusal, false, now);
        if (refusal == errc::overloaded)
            note_overload(now);
        return 0;
    }

    const slot_id queue = queues_.open(resource);
    const wait_queue& q = queues_.at(queue);
    const bool is_held = q.holder != 0 && !lingers(slots_, q.holder);
    if (asks_once && (q.first != 0 || is_held)) { // a single attempt stays behind the queue
        report_.wait_ended(tag, once ? errc{} : errc::contended);
        report_.notes().wait_failed(tag, resource, errc::contended, once, now);
        return 0;
    }
    if (q.waits >= terms.max_waiters) {
        report_.wait_ended(tag, errc::overloaded);
        report_.notes().wait_failed(tag, resource, errc::overloaded, false, now);
        return 0;
    }

    const slot_id added = queues_.append(queue, {.tag = tag,
                                                    .terms = terms,
                                                    .began = now,
                                                    .ends = later(now, in_line),
                                                    .once = asks_once,
                                                    .quiet = once});
    serve(queue, now);
    return added;
}

bool contest::cancel(slot_id id, bool only_if_unsent, time_point now)
{
    const wait* const w = queues_.find_wait(id);
    if (w == nullptr)
        return false;
    const slot_id queue = w->queue;
    const wait_queue& q = queues_.at(queue);
    const bool asked = w->last_error != errc{} || (q.first == id && q.asking != 0);
    if (only_if_unsent && asked)
        return false;
    leave(id, now);
    serve(queue, now);
    return true;
}

void contest::end_all(time_point now)
{
    over_ = true;
    for (std::uint32_t i = 0; i < queues_.wait_capacity(); ++i) {
        if (const slot_id w = queues_.wait_id_at(i); w != 0)
            end_wait(w, errc::closed, now);
    }
}

void contest::granted(const backend_event& event, time_point now)
{
    const slot_id attempt = event.tag;
    const time_point asked = event.asked == never ? event.valid.asked : event.asked;
    claim_slot& s = slots_[attempt];
    wait_queue& q = queues_.at(s.queue);
    assert(q.asking == attempt && q.first != 0);
    line_.answered(s.counts_as, asked, backend_.patience(s.terms.ttl), now);
    report_.decided(now - asked);
    report_.notes().decided(attempt, errc{}, now);
    q.asking = 0;
    q.failures = 0;
    q.last_error = errc{};
    q.in_turn = false;
    q.turns.granted(now);
}

void contest::refused(const backend_event& event, time_point now)
{
    claim_slot& s = slots_[event.tag];
    const slot_id queue = s.queue;
    wait_queue& q = queues_.at(queue);
    q.asking = 0;
    if (event.asked >= s.since && event.asked <= now) // otherwise it made no round
        report_.decided(now - event.asked);
    report_.notes().decided(event.tag, event.reason, now);
    const duration node_timeout = backend_.patience(s.terms.ttl);
    if (event.reason == errc::unreachable && s.counts_as == attempt_load::under_way)
        line_.unanswered(s.counts_as, event.asked, node_timeout,
            pauses_.after_failure(line_.limit().failures(), event.reason, duration(0)), now);
    else
        line_.answered(s.counts_as, event.asked, node_timeout, now);
    slots_.give_back(event.tag);
    report_.refused(event.reason);

    wait& w = queues_.wait_at(q.first);
    w.last_error = event.reason;
    q.last_error = event.reason;
    if (w.once || (is_hopeless(event.reason) && !event.transient))
        return end_wait(q.first, event.reason, now);

    const bool contended = event.reason == errc::contended;
    ++q.failures;
    q.turns.refused(contended);
    if (contended && !q.in_turn && backend_.queue().is_usable() && line_.has_room_to_park()) {
        q.in_turn = true; // wait in the backend's queue instead of repeated attempts
        return ask(queue, now);
    }
    const duration held_up = now - std::min(now, event.asked);
    q.retry_at = now + pauses_.after_failure(q.failures, event.reason, held_up);
    if (contended && !line_.has_room_to_park())
        q.retry_at = std::max(q.retry_at, now + pauses_.without_room());
    queues_.try_at(queue, q.retry_at);
    if (contended && q.failures > failures_before_watching)
        backend_.watch(queue, q.resource, now);
}

void contest::parked(slot_id attempt) noexcept
{
    claim_slot* const s = slots_.find(attempt);
    if (s == nullptr)
        return;
    line_.park(s->counts_as);
    queues_.at(s->queue).turns.note_waiters();
}

void contest::hinted(const backend_event& event, time_point now)
{
    wait_queue* const q = queues_.find(event.tag);
    if (q == nullptr || q->first == 0 || q->asking != 0 || q->holder != 0)
        return;
    if (event.reason != errc{})
        return end_wait(q->first, event.reason, now);

    // If the resource is free already, other clients know it too. Keep the random pause, so as not
    // to collide with them. Otherwise add a little jitter, because they wait for the same instant.
    if (event.free_at <= now || event.free_at > q->retry_at)
        return;
    q->retry_at = std::min(q->retry_at, event.free_at + pauses_.after_free());
    queues_.try_at(event.tag, q->retry_at);
}

void contest::end_turn(slot_id queue, time_point now)
{
    wait_queue& q = queues_.at(queue);
    q.holder = 0;
    q.retry_at = long_ago;
    const wait* const w = queues_.first_of(queue);
    if (w != nullptr && (q.turns.is_over(w->terms, now) || q.turns.used_up(w->terms))) {
        q.turns.end();
        q.in_turn = backend_.queue().is_usable(); // the nodes keep the windows of their queues
        const duration window = q.turns.take_window(polling_of(w->terms), now);
        // Without a queue, others need a pause to find the resource free. A single attempt has no
        // time for one.
        if (!q.in_turn && !w->once)
            q.retry_at = now + (window != duration(0) ? window : pauses_.after_turns());
    } else {
        q.turns.pass();
    }
    serve(queue, now);
}

bool contest::end_due(time_point now)
{
    bool any = queues_.failing_fast() != 0;
    while (const slot_id w = queues_.next_wait_due(now)) {
        end_wait(w, errc{}, now);
        any = true;
    }
    if (queues_.failing_fast() != 0)
        end_failing_fast(now);
    if (overload_.look_at() <= now && overload_.ends(!line_.is_empty(), now))
        report_.notes().overload(false, now);
    return any;
}

void contest::end_failing_fast(time_point now)
{
    const errc reason = backend_.nodes().cut_off();
    for (std::uint32_t i = 0; reason != errc{} && i < queues_.wait_capacity(); ++i) {
        if (const slot_id w = queues_.wait_id_at(i); w != 0 && queues_.wait_at(w).fails_fast())
            end_wait(w, reason, now);
    }
}

bool contest::try_due(time_point now)
{
    bool any = false;
    while (const slot_id queue = queues_.next_queue_due(now)) {
        serve(queue, now);
        any = true;
    }
    return any;
}

bool contest::admit_first(time_point now)
{
    while (const slot_id queue = line_.next(now)) {
        wait_queue& q = queues_.at(queue);
        q.place = 0;
        if (end_before_an_answer(queues_.wait_at(q.first), queues_.wait_at(q.last), now,
                line_.limit().expected_delay())) {
            q.last_error = errc::overloaded;
            continue;
        }
        line_.admitted(now);
        ask(queue, now);
        return true;
    }
    return false;
}

void contest::add_to(locker_stats& stats) const
{
    stats.waiting = queues_.waiting();
    stats.asking = line_.limit().under_way();
    stats.asking_limit = line_.limit().bound();
}

// Makes an attempt for the first wait of a queue, if that is allowed now.
void contest::serve(slot_id queue, time_point now)
{
    wait_queue& q = queues_.at(queue);
    if (q.first == 0) {
        queues_.do_not_try(queue);
        if (q.place != 0)
            line_.leave(std::exchange(q.place, 0));
        return queues_.close_if_unused(queue);
    }
    if (q.asking != 0 || q.holder != 0 || over_ || q.place != 0)
        return;
    if (now < q.retry_at) {
        queues_.try_at(queue, q.retry_at);
    } else if (line_.lets_pass(now)) {
        ask(queue, now);
    } else {
        queues_.do_not_try(queue);
        q.place = line_.join(queue, now);
    }
}

void contest::ask(slot_id queue, time_point now)
{
    queues_.do_not_try(queue);
    wait_queue& q = queues_.at(queue);
    const wait& w = queues_.wait_at(q.first);
    const auto token = tokens_.next(now);
    if (!token)
        return end_wait(q.first, errc::no_random_bits, now);
    if (w.once)
        queues_.stop_clock(q.first);

    const slot_id attempt = slots_.take();
    claim_slot& s = slots_[attempt];
    s = claim_slot{};
    s.queue = queue;
    s.terms = w.terms;
    s.counts_as = line_.began();
    s.since = now;
    report_.notes().asked(w.tag, attempt, now);
    q.asking = attempt;
    report_.attempted();
    claim_params terms{.ttl = w.terms.ttl, .drift = w.terms.drift, .guard = w.terms.guard};
    terms.lingers = s.may_linger = may_linger(w.terms);
    terms.whole_ttl = s.whole_ttl = needs_whole_ttl(w.terms);
    terms.polling = polling_of(w.terms);
    if (!w.once && line_.has_room_to_park())
        terms.queue = q.in_turn ? queueing::now : queueing::if_contended;
    s.claim = backend_.attempt(attempt, q.resource, *token, terms, now);
}

void contest::end_wait(slot_id id, errc reason, time_point now)
{
    const wait w = queues_.wait_at(id);
    wait_queue& q = queues_.at(w.queue);
    // Without an attempt of its own, the wait was blocked by those ahead of it, or by their error.
    errc why = q.last_error != errc{} ? q.last_error : errc::contended;
    if (q.last_error == errc{} && q.place != 0 && q.holder == 0)
        why = line_.limit().is_cut_off() ? errc::unreachable : errc::overloaded;
    if (q.first == id && q.asking != 0) {
        // A refusal is certain. If nodes are silent, the last completed attempt says more.
        const errc cut_short = backend_.pending_error(slots_[q.asking].claim);
        if (q.last_error == errc{} || cut_short == errc::contended)
            why = q.last_error = cut_short;
    }
    if (reason == errc{}) // time is up
        reason = w.last_error != errc{} ? w.last_error : why;
    const bool quiet = w.quiet && reason == errc::contended;
    report_.wait_ended(w.tag, quiet ? errc{} : reason);
    report_.notes().wait_failed(w.tag, q.resource, reason, quiet, now);
    if (reason == errc::overloaded)
        note_overload(now);
    leave(id, now);
    if (q.first == 0)
        serve(w.queue, now);
    else if (q.asking == 0 && q.holder == 0 && !over_) // serves it later: this wait may end too
        queues_.try_at(w.queue, std::max(now, q.retry_at));
}

// Removes a wait from its queue. An attempt that is under way for it continues for the next wait,
// and so keeps its place in the backend's queue.
void contest::leave(slot_id id, time_point now)
{
    wait_queue& q = queues_.at(queues_.wait_at(id).queue);
    const bool asking = q.first == id && q.asking != 0;
    queues_.remove(id);
    if (!asking)
        return;
    claim_slot& s = slots_[q.asking];
    if (q.first != 0 && !over_ && serves(s, queues_.wait_at(q.first).terms)) {
        s.terms = queues_.wait_at(q.first).terms;
        report_.notes().asked(queues_.wait_at(q.first).tag, q.asking, now);
        return;
    }
    backend_.abandon(s.claim, now);
    line_.abandon(s.counts_as, backend_.patience(s.terms.ttl), now);
    report_.notes().given_up(q.asking, now);
    slots_.give_back(q.asking);
    q.asking = 0;
}

// Without observers nothing is watched, so nothing wakes for it.
void contest::note_overload(time_point now)
{
    if (report_.notes().wants(event_level::warning) && overload_.refused(now))
        report_.notes().overload(true, now);
}

} // namespace holdfast::core
