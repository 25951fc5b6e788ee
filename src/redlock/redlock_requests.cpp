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

void redlock_core::send(std::size_t node, what kind, std::uint64_t reference, time_point now)
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
        return send_set(node, id, what::set, now);
    fence_->calls.end_ask(command_, sessions_[node]->run_id());
    send_set(node, id, by_text ? what::ask_by_text : what::ask, now);
}

void redlock_core::encode_set(const claim& c)
{
    const resp::decimal ttl(in_ms(c.terms.ttl));
    command_.clear();
    resp::append_command(command_, {"SET", c.lock, c.token.view(), "NX", "PX", ttl.view()});
}

void redlock_core::send_set(std::size_t node, claim_id id, what kind, time_point now)
{
    claim& c = claims_[id];
    send(node, kind, id, now);
    if (kind != what::heal) {
        c.sent(node, now);
    } else {
        c.at[node].healing = true;
        c.leaves(c.terms.ttl, now);
    }
}

void redlock_core::encode_remove(const claim& c, bool by_text)
{
    command_.clear();
    resp::append_command(command_, {script_command(by_text), script_name(release_script, by_text),
                                       "1", c.lock, c.token.view()});
}

void redlock_core::send_remove(std::size_t node, claim_id id, what kind, time_point now)
{
    send(node, kind, id, now);
    claim_node& n = claims_[id].at[node];
    deletions_ += n.deleting ? 0u : 1u;
    n.deleting = true;
}

void redlock_core::on_reply(std::size_t node, const request& r, reply answer, time_point now)
{
    const auto kind = static_cast<what>(r.kind);
    switch (kind) {
    case what::set:
    case what::heal: {
        const vote v = vote_of(answer);
        if (kind == what::set)
            on_vote(node, r.reference, {v, trouble_in(answer)}, r.sent, now);
        else
            on_healed(node, r.reference, v, now);
        if (v == vote::unknown)
            fail_session(node, now);
        break;
    }
    case what::ask:
    case what::ask_by_text:
        on_asked(node, r, answer, now);
        break;
    case what::raise:
    case what::raise_by_text:
        on_raised(node, r, answer, now);
        break;
    case what::probe:
        hear(node, r, answer, now);
        break;
    case what::record:
        on_record(node, answer);
        break;
    case what::remove:
    case what::remove_by_text:
    case what::pass_on:
    case what::pass_on_by_text:
        on_removed(node, r.reference, kind, answer, now);
        break;
    case what::renew:
    case what::renew_by_text:
        on_renewed(node, r, answer, now);
        break;
    case what::enqueue:
    case what::enqueue_by_text:
        if (fence_)
            on_placed(node, r, answer, now);
        else
            on_enqueued(node, r, answer, now);
        break;
    case what::confirm:
    case what::confirm_by_text:
        if (fence_)
            on_asked(node, r, answer, now);
        else
            on_confirmed(node, r, answer, now);
        break;
    case what::owner:
        on_owner(node, r.reference, answer, now);
        break;
    case what::look:
        on_looked(node, r.reference, answer);
        break;
    case what::first:
        on_first(node, r.reference, answer, now);
        break;
    case what::join:
    case what::leave:
        note_if_unusable(node, r.reference, answer, now);
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
    const auto kind = static_cast<what>(r.kind);
    if (kind == what::renew || kind == what::renew_by_text) {
        for (const claim_id each : batches_[r.reference].claims) {
            if (const claim* const c = claims_.find(each))
                lasts_longer(each, c->terms.ttl, now);
        }
        return;
    }
    const bool of_a_claim = kind != what::probe && kind != what::record && kind != what::type &&
                            kind != what::time_left && kind != what::owner;
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
    switch (static_cast<what>(r.kind)) {
    case what::ask:
    case what::ask_by_text:
    case what::set:
        on_vote(node, r.reference, {vote::unknown, why_down(node)}, r.sent, now);
        break;
    case what::raise:
    case what::raise_by_text:
        settle_raise(node, r.reference, raise_answer::unknown, now);
        break;
    case what::heal:
        on_healed(node, r.reference, vote::unknown, now);
        break;
    case what::confirm:
    case what::confirm_by_text:
        on_vote(node, r.reference, {vote::unknown, why_down(node)}, r.sent, now);
        break;
    case what::enqueue:
    case what::enqueue_by_text:
    case what::join:
    case what::leave:
    case what::first:
    case what::track:
    case what::tracked:
    case what::probe:
    case what::record:
    case what::owner:
        break; // the node is down: another one is asked
    case what::look:
        on_looked(node, r.reference, {});
        break;
    case what::remove:
    case what::remove_by_text:
    case what::pass_on:
    case what::pass_on_by_text:
        if (c != nullptr) {
            end_deletion(c->at[node]);
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
        raise_those_behind(id, now);
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
    end_deletion(c->at[node]);
    const resp::value& v = answer.front();
    const bool passes_on = kind == what::pass_on || kind == what::pass_on_by_text;
    if (is_no_script(answer) && kind == what::remove) {
        encode_remove(*c, true);
        send_remove(node, id, what::remove_by_text, now);
    } else if (is_no_script(answer) && kind == what::pass_on) {
        encode_pass_on(id, node, true);
        send_remove(node, id, what::pass_on_by_text, now);
    } else if (v.what == resp::kind::error && passes_on) { // the key must go in any case
        note_queue_error(node, id, answer, now);
        encode_remove(*c, false);
        send_remove(node, id, what::remove, now);
    } else if (v.what == resp::kind::integer) {
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

} // namespace holdfast::redis
