// The requests of redlock_core, and what their replies mean for the claims.
#include "redlock/redlock_core.hpp"
#include "redlock/script_call.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::redis {

using core::backend_event;
using core::claim_id;
using core::time_point;
using key = claim_node::key;
using stage = claim::stage;

namespace {

// Renewals in one call. A node does nothing else while it runs a script.
constexpr std::size_t largest_batch = 100;

} // namespace

void redlock_core::send(std::size_t node, what kind, std::uint64_t reference, time_point now)
{
    sessions_[node]->send(
        command_, {.reference = reference, .kind = static_cast<std::uint8_t>(kind), .sent = now});
}

void redlock_core::encode_set(const claim& c)
{
    command_.clear();
    resp::append_array_header(command_, 6);
    resp::append_blob(command_, "SET");
    resp::append_blob(command_, c.resource);
    resp::append_blob(command_, c.token.view());
    resp::append_blob(command_, "NX");
    resp::append_blob(command_, "PX");
    resp::append_blob(command_, in_ms(c.terms.ttl));
}

void redlock_core::send_set(std::size_t node, claim_id id, what kind, time_point now)
{
    claim& c = claims_[id];
    send(node, kind, id, now);
    if (kind == what::set) {
        c.sent(node, now);
    } else {
        c.at[node].healing = true;
        c.last_sent = std::max(c.last_sent, now);
    }
}

void redlock_core::encode_remove(const claim& c, bool by_text)
{
    command_.clear();
    begin_script(command_, release_script, by_text, 1, 1);
    resp::append_blob(command_, c.resource);
    resp::append_blob(command_, c.token.view());
}

void redlock_core::send_remove(std::size_t node, claim_id id, what kind, time_point now)
{
    send(node, kind, id, now);
    claims_[id].at[node].deleting = true;
}

void redlock_core::renew(std::span<const claim_id> claims, bool again, time_point now)
{
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const node_session& node = *sessions_[i];
        if (node.now() != node_session::reachability::ready || (!again && node.congested(now)))
            continue;
        to_renew_.clear();
        for (const claim_id id : claims) {
            claim& c = claims_[id];
            const claim_node& n = c.at[i];
            if (n.state != key::absent && n.state != key::unsent) {
                if (n.renewing == 0 || again)
                    to_renew_.push_back(id);
            } else if (n.state == key::absent && !n.healing && !n.again && c.has_majority(now)) {
                encode_set(c);
                send_set(i, id, what::heal, now);
            }
        }
        for (std::size_t at = 0; at < to_renew_.size(); at += largest_batch) {
            const std::size_t count = std::min(largest_batch, to_renew_.size() - at);
            send_batch(i, std::span(to_renew_).subspan(at, count), false, now);
        }
    }
}

void redlock_core::send_batch(
    std::size_t node, std::span<const claim_id> claims, bool by_text, time_point now)
{
    const core::slot_id id = batches_.take();
    batch& b = batches_[id];
    b.claims.assign(claims.begin(), claims.end());
    b.sent = now;
    command_.clear();
    begin_script(command_, renew_script, by_text, claims.size(), 2 * claims.size());
    for (const claim_id c : claims)
        resp::append_blob(command_, claims_[c].resource);
    for (const claim_id each : claims) {
        claim& c = claims_[each];
        resp::append_blob(command_, c.token.view());
        resp::append_blob(command_, in_ms(c.terms.ttl));
        c.last_sent = std::max(c.last_sent, now);
        ++c.at[node].renewing;
    }
    send(node, by_text ? what::renew_by_text : what::renew, id, now);
}

void redlock_core::on_reply(std::size_t node, const request& r, reply answer, time_point now)
{
    const auto kind = static_cast<what>(r.kind);
    switch (kind) {
    case what::set:
    case what::heal: {
        const vote v = vote_of(answer);
        if (kind == what::set)
            on_vote(node, r.reference, v, now);
        else
            on_healed(node, r.reference, v, now);
        if (v == vote::unknown)
            fail_session(node, now);
        break;
    }
    case what::remove:
    case what::remove_by_text:
    case what::pass_on:
    case what::pass_on_by_text:
        on_removed(node, r.reference, kind, answer, now);
        break;
    case what::renew:
    case what::renew_by_text:
        on_renewed(node, r.reference, kind == what::renew_by_text, answer, now);
        break;
    case what::enqueue:
    case what::enqueue_by_text:
        on_enqueued(node, r, answer, now);
        break;
    case what::confirm:
    case what::confirm_by_text:
        on_confirmed(node, r.reference, kind == what::confirm_by_text, answer, now);
        break;
    case what::look:
        on_looked(
            r.reference, answer.front().what == resp::kind::integer && answer.front().integer == 0);
        break;
    case what::first:
        on_first(node, r.reference, answer, now);
        break;
    case what::track: // a node that forbids it does not tell us
        break;
    case what::tracked:
        on_tracked(node, r.reference, answer, now);
        break;
    case what::type:
    case what::time_left:
        on_watched(node, r.reference, kind, answer, now);
        break;
    }
}

void redlock_core::on_orphaned(std::size_t node, const request& r, time_point now)
{
    claim* const c = claims_.find(r.reference);
    switch (static_cast<what>(r.kind)) {
    case what::set:
        on_vote(node, r.reference, vote::unknown, now);
        break;
    case what::heal:
        on_healed(node, r.reference, vote::unknown, now);
        break;
    case what::confirm:
    case what::confirm_by_text:
        on_vote(node, r.reference, vote::unknown, now);
        break;
    case what::enqueue:
    case what::enqueue_by_text:
    case what::first:
    case what::track:
    case what::tracked:
        break; // the node is down: another one is asked
    case what::look:
        on_looked(r.reference, false);
        break;
    case what::remove:
    case what::remove_by_text:
    case what::pass_on:
    case what::pass_on_by_text:
        if (c != nullptr) {
            c->at[node].deleting = false;
            if (c->phase == stage::releasing)
                settle_release(r.reference, false, now);
        }
        break;
    case what::renew:
    case what::renew_by_text:
        end_batch(node, r.reference);
        break;
    case what::type:
    case what::time_left:
        on_watch_ended(r.reference);
        break;
    }
}

void redlock_core::on_vote(std::size_t node, claim_id id, vote v, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    c->answered(node);
    if (v == vote::refused && (c->at[node].state == key::ours || c->at[node].open != 0))
        return; // by what is ours since the hand-over, or what follows will tell
    if (v == vote::refused && ask_again(node, id, now))
        return;
    c->record(node, v);
    switch (c->phase) {
    case stage::queued:
        return;
    case stage::asking:
        return settle_attempt(id, now);
    case stage::held: // a straggler joins the lease
        if (v == vote::granted)
            report(id, now);
        return;
    case stage::releasing:
        return settle_release(id, false, now);
    case stage::cleaning:
        return forget_if_clean(id);
    }
}

void redlock_core::on_healed(std::size_t node, claim_id id, vote v, time_point)
{
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    c->at[node].healing = false;
    // Or may be: what refuses may be our own first SET, which came late over an old connection. The
    // next renewal tells, and a deletion is due in any case.
    if (v != vote::failed)
        c->healed(node);
    if (c->phase == stage::cleaning)
        forget_if_clean(id);
}

void redlock_core::on_removed(
    std::size_t node, claim_id id, what kind, reply answer, time_point now)
{
    claim* c = claims_.find(id);
    if (c == nullptr)
        return;
    c->at[node].deleting = false;
    const resp::value& v = answer.front();
    const bool passes_on = kind == what::pass_on || kind == what::pass_on_by_text;
    if (is_no_script(answer) && kind == what::remove) {
        encode_remove(*c, true);
        send_remove(node, id, what::remove_by_text, now);
    } else if (is_no_script(answer) && kind == what::pass_on) {
        encode_pass_on(id, node, true);
        send_remove(node, id, what::pass_on_by_text, now);
    } else if (v.what == resp::kind::error && passes_on) { // the key must go in any case
        note_queue_error(node, v.text);
        encode_remove(*c, false);
        send_remove(node, id, what::remove, now);
    } else if (v.what == resp::kind::integer) {
        if (v.integer == 2)
            contention_.note(c->hash, now);
        else if (passes_on && v.integer == 1)
            contention_.forget(c->hash);
        c->deleted(node, v.integer != 0);
    } else if (v.what != resp::kind::error) { // an error leaves the key to its ttl
        fail_session(node, now);
        c = claims_.find(id); // its other requests may have been the last of it
        if (c == nullptr)
            return;
    }

    if (c->phase == stage::releasing)
        settle_release(id, false, now);
    else if (c->phase == stage::cleaning)
        forget_if_clean(id);
}

void redlock_core::on_renewed(
    std::size_t node, core::slot_id id, bool by_text, reply answer, time_point now)
{
    batch& b = batches_[id];
    if (is_no_script(answer) && !by_text) {
        std::vector<claim_id> still_held;
        for (const claim_id each : b.claims) {
            const claim* const c = claims_.find(each);
            if (c != nullptr && c->phase == stage::held)
                still_held.push_back(each);
        }
        end_batch(node, id);
        if (!still_held.empty())
            send_batch(node, still_held, true, now);
        return;
    }
    const bool usable =
        answer.front().what == resp::kind::array && answer.front().count == b.claims.size();
    for (std::size_t k = 0; usable && k < b.claims.size(); ++k) {
        claim* const c = claims_.find(b.claims[k]);
        if (c == nullptr || c->phase != stage::held)
            continue;
        if (answer[k + 1].integer == 1)
            c->renewed(node, b.sent);
        else
            c->missing(node);
        report(b.claims[k], now);
    }
    const bool wrong = !usable && answer.front().what != resp::kind::error;
    end_batch(node, id);
    if (wrong)
        fail_session(node, now);
}

void redlock_core::end_batch(std::size_t node, core::slot_id id)
{
    for (const claim_id each : batches_[id].claims) {
        claim* const c = claims_.find(each);
        if (c != nullptr && c->at[node].renewing > 0)
            --c->at[node].renewing;
    }
    batches_.give_back(id);
}

// Tells the locker what a held claim is worth now, if that has changed.
void redlock_core::report(claim_id id, time_point now)
{
    claim& c = claims_[id];
    const time_point valid_until = c.valid_until();
    if (valid_until <= now) {
        emit({.kind = backend_event::what::lost, .tag = c.tag});
    } else if (valid_until != c.reported) {
        c.reported = valid_until;
        emit({.kind = backend_event::what::validity, .tag = c.tag, .valid_until = valid_until});
    }
}

} // namespace holdfast::redis
