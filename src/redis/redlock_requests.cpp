// The requests of redlock_core, and what their replies mean for the claims.
#include "redis/redlock_core.hpp"
#include "redis/script_call.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::redis {

using core::backend_event;
using core::claim_id;
using core::event_kind;
using core::time_point;
using key = claim_node::key;
using stage = claim::stage;

void redlock_core::send(
    std::size_t node, request_kind kind, std::uint64_t reference, time_point now)
{
    sessions_[node]->send(
        command_, {.reference = reference, .kind = static_cast<std::uint8_t>(kind), .sent = now});
}

// Nodes that are asked for a token are each told who they were when they greeted us.
void redlock_core::encode_ask(const claim& c, bool by_text, time_point now)
{
    if (fence_)
        fence_->calls.begin_ask(command_, wanted_by(c, by_text, now));
    else
        encode_set(c);
}

void redlock_core::send_ask(std::size_t node, claim_id id, bool by_text, time_point now)
{
    if (!fence_)
        return send_set(node, id, request_kind::set, now);
    fence_->calls.end_ask(command_, sessions_[node]->run_id());
    send_set(node, id, by_text ? request_kind::ask_by_text : request_kind::ask, now);
}

void redlock_core::encode_set(const claim& c)
{
    const resp::decimal ttl(in_ms(c.terms.ttl));
    command_.clear();
    resp::append_command(command_, {"SET", c.lock, c.token.view(), "NX", "PX", ttl.view()});
}

void redlock_core::send_set(std::size_t node, claim_id id, request_kind kind, time_point now)
{
    claim& c = claims_[id];
    send(node, kind, id, now);
    if (kind != request_kind::repair) {
        c.sent(node, now);
    } else {
        c.at[node].repairing = true;
        c.leaves(c.terms.ttl, now);
    }
}

void redlock_core::encode_remove(const claim& c, bool by_text)
{
    command_.clear();
    resp::append_command(command_, {script_command(by_text), script_name(release_script, by_text),
                                       "1", c.lock, c.token.view()});
}

void redlock_core::send_remove(std::size_t node, claim_id id, request_kind kind, time_point now)
{
    send(node, kind, id, now);
    claim_node& n = claims_[id].at[node];
    deletions_ += n.deleting ? 0u : 1u;
    n.deleting = true;
}

void redlock_core::on_reply(std::size_t node, const request& r, reply answer, time_point now)
{
    const auto kind = static_cast<request_kind>(r.kind);
    switch (kind) {
    case request_kind::set:
    case request_kind::repair: {
        const vote v = vote_of(answer);
        if (kind == request_kind::set)
            on_vote(node, r.reference, {v, trouble_in(answer)}, r.sent, now);
        else
            on_repaired(node, r.reference, v, now);
        if (v == vote::unknown)
            fail_session(node, now);
        break;
    }
    case request_kind::ask:
    case request_kind::ask_by_text:
        on_asked(node, r, answer, now);
        break;
    case request_kind::write_back:
    case request_kind::write_back_by_text:
        on_written_back(node, r, answer, now);
        break;
    case request_kind::probe:
        hear(node, r, answer, now);
        break;
    case request_kind::record:
        on_record(node, answer);
        break;
    case request_kind::remove:
    case request_kind::remove_by_text:
    case request_kind::pass_on:
    case request_kind::pass_on_by_text:
        on_removed(node, r.reference, kind, answer, now);
        break;
    case request_kind::renew:
    case request_kind::renew_by_text:
        on_renewed(node, r, answer, now);
        break;
    case request_kind::enqueue:
    case request_kind::enqueue_by_text:
        if (fence_)
            on_placed(node, r, answer, now);
        else
            on_enqueued(node, r, answer, now);
        break;
    case request_kind::confirm:
    case request_kind::confirm_by_text:
        if (fence_)
            on_asked(node, r, answer, now);
        else
            on_confirmed(node, r, answer, now);
        break;
    case request_kind::owner:
        on_owner(node, r.reference, answer, now);
        break;
    case request_kind::look:
        on_looked(node, r.reference, answer);
        break;
    case request_kind::first:
        on_first(node, r.reference, answer, now);
        break;
    case request_kind::join:
    case request_kind::leave:
        note_if_unusable(node, r.reference, answer, now);
        break;
    case request_kind::track: // a node that forbids it does not tell us
        break;
    case request_kind::tracked:
        on_tracked(node, r.reference, answer, now);
        break;
    case request_kind::type:
    case request_kind::time_left:
        on_watched(node, r.reference, kind, answer, now);
        break;
    }
}

// What of ours is on a node lasts longer than was thought: what sets its ttl has just left.
void redlock_core::lasts_longer(claim_id id, core::duration ttl, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    c->leaves(ttl, now);
    if (c->phase == stage::cleaning)
        claim_ends_.set(core::slot_index(id), c->gone_at);
}

// Timeouts count from when a request leaves, and so does what it makes a node keep.
void redlock_core::on_sent_late(std::size_t, const request& r, time_point now)
{
    const auto kind = static_cast<request_kind>(r.kind);
    if (kind == request_kind::renew || kind == request_kind::renew_by_text) {
        for (const claim_id each : batches_[r.reference].claims) {
            if (const claim* const c = claims_.find(each))
                lasts_longer(each, c->terms.ttl, now);
        }
        return;
    }
    const bool of_a_claim = kind != request_kind::probe && kind != request_kind::record &&
                            kind != request_kind::type && kind != request_kind::time_left &&
                            kind != request_kind::owner;
    claim* const c = of_a_claim ? claims_.find(r.reference) : nullptr;
    if (c == nullptr)
        return;
    lasts_longer(r.reference, std::max(c->terms.ttl, queue_ttl), now);
    if (c->phase == stage::queued && c->answer_due) {
        claim_ends_.set(core::slot_index(r.reference), now + patience(c->terms.ttl));
        return;
    }
    // A minority that does not take what we send delays nobody.
    if (++c->late < blocking(c->nodes()))
        return;
    if (c->phase == stage::asking) {
        c->round_began = now;
        limit_round(r.reference, now);
    } else if (c->phase == stage::releasing) {
        claim_ends_.set(core::slot_index(r.reference), now + patience(c->terms.ttl));
    }
}

void redlock_core::on_orphaned(std::size_t node, const request& r, time_point now)
{
    claim* const c = claims_.find(r.reference);
    switch (static_cast<request_kind>(r.kind)) {
    case request_kind::ask:
    case request_kind::ask_by_text:
    case request_kind::set:
        on_vote(node, r.reference, {vote::unknown, why_down(node)}, r.sent, now);
        break;
    case request_kind::write_back:
    case request_kind::write_back_by_text:
        settle_write_back(node, r.reference, write_back_answer::unknown, now);
        break;
    case request_kind::repair:
        on_repaired(node, r.reference, vote::unknown, now);
        break;
    case request_kind::confirm:
    case request_kind::confirm_by_text:
        on_vote(node, r.reference, {vote::unknown, why_down(node)}, r.sent, now);
        break;
    case request_kind::enqueue:
    case request_kind::enqueue_by_text:
    case request_kind::join:
    case request_kind::leave:
    case request_kind::first:
    case request_kind::track:
    case request_kind::tracked:
    case request_kind::probe:
    case request_kind::record:
    case request_kind::owner:
        break; // the node is down: another one is asked
    case request_kind::look:
        on_looked(node, r.reference, {});
        break;
    case request_kind::remove:
    case request_kind::remove_by_text:
    case request_kind::pass_on:
    case request_kind::pass_on_by_text:
        if (c != nullptr) {
            end_deletion(c->at[node]);
            if (c->phase == stage::releasing)
                settle_release(r.reference, false, now);
        }
        break;
    case request_kind::renew:
    case request_kind::renew_by_text:
        end_batch(node, r.reference);
        break;
    case request_kind::type:
    case request_kind::time_left:
        on_watch_ended(r.reference);
        break;
    }
}

void redlock_core::on_vote(
    std::size_t node, claim_id id, const ballot& b, time_point asked, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    const vote v = b.said;
    c->answered(node);
    if (v != vote::granted && c->at[node].state == key::ours)
        return; // since the hand-over: a second request changes nothing
    if (v == vote::refused && (c->at[node].open != 0 || ask_again(node, id, now)))
        return; // what follows will tell
    if (v == vote::granted) {
        c->granted(node, asked, b.start);
        unfit_.forget_stale(c->hash, node);
    } else {
        c->not_granted(node, v, b.why);
    }
    if (b.start != 0 && (c->phase == stage::asking || c->phase == stage::held))
        write_back_to_those_behind(id, now);
    if (v == vote::refused && gives_way(node, *c, now))
        return refuse(id, errc::contended, now);
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

void redlock_core::on_repaired(std::size_t node, claim_id id, vote v, time_point)
{
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    c->at[node].repairing = false;
    // Or may be: what refuses may be our own first SET, which came late over an old connection. The
    // next renewal tells, and a deletion is due in any case.
    if (v != vote::failed)
        c->repaired(node);
    if (c->phase == stage::cleaning)
        forget_if_clean(id);
}

void redlock_core::on_removed(
    std::size_t node, claim_id id, request_kind kind, reply answer, time_point now)
{
    claim* c = claims_.find(id);
    if (c == nullptr)
        return;
    end_deletion(c->at[node]);
    const resp::value& v = answer.front();
    const bool passes_on = kind == request_kind::pass_on || kind == request_kind::pass_on_by_text;
    if (is_no_script(answer) && kind == request_kind::remove) {
        encode_remove(*c, true);
        send_remove(node, id, request_kind::remove_by_text, now);
    } else if (is_no_script(answer) && kind == request_kind::pass_on) {
        encode_pass_on(id, node, true);
        send_remove(node, id, request_kind::pass_on_by_text, now);
    } else if (v.kind == resp::value_kind::error && passes_on) { // the key must go in any case
        note_queue_error(node, id, answer, now);
        encode_remove(*c, false);
        send_remove(node, id, request_kind::remove, now);
    } else if (v.kind == resp::value_kind::integer) {
        if (v.integer == 3)
            windows_.opened(c->hash, c->terms.polling, now);
        else if (passes_on && c->at[node].leaves_open)
            windows_.refused(c->hash, c->terms.polling, now);
        if (v.integer == 2) {
            contention_.note_turn(c->hash, now);
            windows_.note_contention(c->hash, now);
            c->others_first = true;
        } else if (passes_on && v.integer == 1 && !c->others_first) {
            contention_.forget(c->hash);
            windows_.note_free(c->hash);
        }
        c->deleted(node, v.integer != 0);
    } else if (v.kind != resp::value_kind::error) { // an error leaves the key to its ttl
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

} // namespace holdfast::redis
