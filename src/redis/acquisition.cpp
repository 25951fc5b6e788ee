#include "redis/acquisition.hpp"

#include "redis/quorum/rendezvous.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::claim_id;
using core::slot_index;
using core::time_point;
using key = claim_node::key;
using namespace std::chrono_literals;

namespace {

// When we are told of our turn, the deletions of the old holder are still under way to the other
// nodes.
constexpr unsigned most_refusals = 8;
constexpr core::duration first_repeat_pause = 500us;

// The first ballots of an attempt. The next ones, for spare nodes of a lease, come with renewals.
constexpr unsigned most_ballots = 4, most_ballots_of_lease = 60'000;

// Between those for spare nodes: a tenth of the ttl, and so much more after each ten ballots. A
// user may extend in a loop, and a register may be ahead of the clocks for hours.
constexpr core::duration longer_after_ten = 100ms;

} // namespace

void acquisition::open(claim_id id, time_point now)
{
    claim& c = claims_[id];
    has_ballot(c, now);
    const requests all = encode(c);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const bool handed_over = c.queue.handed_over && i == c.queue.node;
        const auto reach = nodes_[i].now();
        if (reach == reachability::ready && handed_over && !all.ballot.empty())
            send_ballot(id, i, all.ballot, now); // behind the request for its key
        if (handed_over)
            continue;
        if (reach == reachability::soon)
            c.keys[i].state = key::unsent;
        else if (reach == reachability::down)
            c.not_granted(i, vote::failed, nodes_.why_down(i));
        else if (nodes_[i].congested(now))
            c.not_granted(i, vote::failed);
        else
            ask(id, i, all, now);
    }
    limit(id, now);
}

acquisition::requests acquisition::encode(const claim& c)
{
    const bool balloted = c.round.is_fenced() && c.round.ballots().number() != 0;
    return {.key = dialect_.common().set(c),
        .ballot = balloted ? dialect_.ballot(c) : std::string_view()};
}

bool acquisition::has_ballot(claim& c, time_point now)
{
    return !c.round.is_fenced() || c.round.ballots().number() != 0 ||
           dialect_.choose_ballot(c, now);
}

// A round needs no limit before a majority has been asked: a node that is still connecting becomes
// ready or fails within the connect timeout.
void acquisition::limit(claim_id id, time_point now)
{
    const claim& c = claims_[id];
    if (c.keys.size() - c.keys.unsent() >= majority(c.keys.size()))
        claims_.wake_at(id, now + nodes_.timeout(c.params.ttl));
}

bool acquisition::ask_unsent(claim_id id, std::size_t node, time_point now)
{
    claim& c = claims_[id];
    if (!c.is_open() || c.keys[node].state != key::unsent)
        return false;
    has_ballot(c, now);
    ask(id, node, encode(c), now);
    if (c.stage == claim_stage::asking)
        limit(id, now);
    return true;
}

bool acquisition::give_up_unsent(claim_id id, std::size_t node, time_point now)
{
    claim& c = claims_[id];
    if (c.keys[node].state != key::unsent)
        return false;
    c.not_granted(node, vote::failed, nodes_.why_down(node));
    if (c.round.is_fenced())
        go_on(id, now);
    return true;
}

void acquisition::give_up(claim_id id)
{
    claim& c = claims_[id];
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        c.keys[i].again = false;
        if (c.keys[i].state == key::unsent)
            c.not_granted(i, vote::failed);
    }
    forget(id);
}

// Why a node does not count in fenced mode, before it is asked.
errc acquisition::why_not(std::size_t node, claim& c, const requests& all, time_point now)
{
    if (const errc why = dialect_.refuses(node, c, now); why != errc{})
        return why;
    return all.ballot.empty() ? dialect_.refuses_without_ballot(node, c, now) : errc{};
}

void acquisition::ask(claim_id id, std::size_t node, const requests& all, time_point now)
{
    claim& c = claims_[id];
    const bool fenced = c.round.is_fenced();
    if (const errc why = fenced ? why_not(node, c, all, now) : errc{}; why != errc{}) {
        c.not_granted(node, vote::failed, why);
        return;
    }
    nodes_.send(node, all.key, {.reference = id, .kind = request_kind::acquire, .sent = now});
    c.sent(node, now);
    if (fenced && !c.round.ballots().was_sent(node)) // it accepts a ballot once
        send_ballot(id, node, all.ballot, now);
}

void acquisition::send_ballot(
    claim_id id, std::size_t node, std::string_view ballot, time_point now)
{
    ballot_round& round = claims_[id].round.ballots();
    nodes_.send(node, ballot,
        {.reference = id, .kind = request_kind::ballot, .ballot = round.number(), .sent = now});
    round.send(node);
}

void acquisition::confirm(claim_id id, std::size_t node, bool by_text, time_point now)
{
    claim& c = claims_[id];
    c.keys[node].again = false;
    nodes_.send(node, dialect_.common().confirm(c, node, by_text),
        {.reference = id, .kind = request_kind::confirm, .by_text = by_text, .sent = now});
    if (c.came_by_baton() != nullptr)
        c.keys.sent(node, now + c.params.ttl); // the key is not asked for
    else
        c.sent(node, now);
}

void acquisition::confirm_all(claim_id id, time_point now)
{
    claim& c = claims_[id];
    c.round.begin_confirmation(c.keys.size());
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        c.keys[i].state = key::asked; // it may be there
        if (nodes_.is_ready(i))
            confirm(id, i, false, now);
        else
            c.round.record(i, vote::failed);
    }
    limit(id, now);
}

bool acquisition::say_again(std::size_t node, const request& r, time_point now)
{
    claim* const c = claims_.find(r.reference);
    if (c == nullptr || !c->is_open() || r.kind != request_kind::confirm)
        return false; // only that is a script
    c->keys.answered(node);
    confirm(r.reference, node, true, now);
    return true;
}

bool acquisition::record(std::size_t node, const request& r, const key_answer& a, time_point now)
{
    const claim_id id = r.reference;
    claim& c = claims_[id];
    c.keys.answered(node);
    if (a.said != vote::granted && (c.keys[node].state == key::ours || c.round.has_key(node)))
        return false; // since the hand-off: a second request changes nothing
    if (a.said == vote::refused && (c.keys[node].open != 0 || asks_again(node, id, now)))
        return false;
    if (a.said == vote::granted) {
        c.granted(node, r.sent);
        c.note_end(now);
        nodes_.unfit().forget_stale(c.hash, node);
        nodes_.note_end(node, c.lock, true);
    } else if (a.said == vote::failed && r.kind == request_kind::confirm) {
        c.not_confirmed(node, a.why);
    } else {
        c.not_granted(node, a.said, a.why);
    }
    if (c.round.is_fenced())
        go_on(id, now);
    return true;
}

// A node executes our requests in the order in which we send them.
bool acquisition::finds_missing(std::size_t node, claim_id id)
{
    claim& c = claims_[id];
    const bool open = c.wants_answers();
    if ((c.keys[node].state != key::ours && !c.round.has_key(node)) || !open)
        return false;
    c.keys.answered(node);
    c.missing(node, core::long_ago);
    return true;
}

// The pauses vary by a quarter, at random. Else the same waiter could give up shortly before its
// turn each time, where the keys of each holder end one after another.
core::duration acquisition::pause_after(std::size_t refusals, const claim& c) noexcept
{
    constexpr core::duration::rep whole = 1024;
    const auto part = static_cast<core::duration::rep>(hash_of(c.token.view()) % (whole / 2));
    return first_repeat_pause * (1 << (refusals - 1)) * (whole * 3 / 4 + part) / whole;
}

// A node that still refuses when the queue node has handed off its key is asked again: at once,
// then after growing pauses. True if so; then it has no vote yet.
bool acquisition::asks_again(std::size_t node, claim_id id, time_point now)
{
    claim& c = claims_[id];
    claim_node& n = c.keys[node];
    if (!c.queue.handed_over || node == c.queue.node || !c.is_open() || n.lost ||
        n.refusals >= most_refusals || nodes_.unfit().knows_stale(c.hash, node, now))
        return false;
    n.state = key::absent;
    if (n.refusals++ == 0 && nodes_.is_ready(node)) {
        ask(id, node, encode(c), now);
        return true;
    }
    n.again = true;
    c.asked_again_at = std::min(c.asked_again_at, now + pause_after(n.refusals, c));
    asked_again_.set(slot_index(id), c.asked_again_at);
    // The keys of a lease may end one by one. But that which we have got ends as well.
    if (c.stage == claim_stage::asking && c.asked_again_at - c.round_began <= c.params.ttl / 8)
        claims_.wake_at(id, c.asked_again_at + nodes_.timeout(c.params.ttl));
    return true;
}

std::optional<claim_id> acquisition::ask_again(time_point now)
{
    const auto index = asked_again_.pop_due(now);
    if (!index)
        return std::nullopt;
    const claim_id id = claims_.all.id_at(*index);
    claim& c = claims_[id];
    c.asked_again_at = core::never;
    const requests all = encode(c);
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (!c.keys[i].again)
            continue;
        c.keys[i].again = false;
        if (nodes_.is_ready(i))
            ask(id, i, all, now);
        else
            c.not_granted(i, vote::failed, nodes_.why_down(i));
    }
    if (c.round.is_fenced())
        go_on(id, now);
    return id;
}

void acquisition::go_on(claim_id id, time_point now)
{
    claim& c = claims_[id];
    if (!c.is_open())
        return;
    ballot_round& round = c.round.ballots();
    if (round.needs_larger() && c.round.fence().registers_asked == 0) {
        if (round.number() < most_ballots && dialect_.choose_ballot(c, now))
            c.weigh();
        else
            round.give_up();
    }
    bool any = false;
    for (auto node = round.next(); node; node = round.next(*node + 1)) {
        if (c.stage == claim_stage::held && !is_fit(c, *node, now))
            continue; // it has time: see ask_spares()
        if (nodes_.is_ready(*node)) {
            send_ballot(id, *node, dialect_.ballot(c), now);
            any = true;
        } else {
            exclude(c, *node, nodes_.why_down(*node));
        }
    }
    if (any && c.stage == claim_stage::asking)
        claims_.wake_at(id, now + nodes_.timeout(c.params.ttl));
}

void acquisition::exclude(claim& c, std::size_t node, errc why)
{
    c.round.ballots().exclude(node);
    c.keys[node].trouble = static_cast<std::uint8_t>(why);
    c.weigh();
}

// A node that refuses a ballot is asked for its register. A lease asks one node at a time.
bool acquisition::on_ballot(std::size_t node, const request& r, reply answer, time_point now)
{
    const claim_id id = r.reference;
    claim* const c = claims_.find(id);
    const bool open = c != nullptr && c->wants_answers();
    if (r.kind == request_kind::largest) {
        const errc why = dialect_.read_largest(node, answer, open ? c : nullptr, now);
        if (!open)
            return false;
        --c->round.fence().registers_asked;
        if (why != errc{} && c->stage != claim_stage::held)
            exclude(*c, node, why);
        go_on(id, now);
        return true;
    }
    const dialect::ballot_reply b = dialect_.read_ballot(node, answer, open ? c : nullptr, now);
    if (open) {
        c->round.ballots().record_answer(
            node, r.ballot, b.why != errc{} ? ballot_answer::refused : b.said);
        if (b.why != errc{} && c->stage != claim_stage::held)
            exclude(*c, node, b.why);
        std::uint8_t& asked = c->round.fence().registers_asked;
        const ballot_round& round = c->round.ballots();
        const bool attempts = c->stage == claim_stage::asking;
        if (b.said == ballot_answer::refused && round.is_current(r.ballot) &&
            (attempts || (round.is_later(r.ballot) && asked == 0))) {
            nodes_.send(node, dialect_.largest_ballot(*c),
                {.reference = id, .kind = request_kind::largest, .sent = now});
            ++asked;
            if (attempts)
                claims_.wake_at(id, now + nodes_.timeout(c->params.ttl));
        }
        c->weigh();
        go_on(id, now);
    }
    if (b.broken)
        nodes_.fail(node, now);
    return open;
}

bool acquisition::lose_ballot(std::size_t node, const request& r, time_point now)
{
    claim* const c = claims_.find(r.reference);
    if (c == nullptr || !c->wants_answers())
        return false; // it is being deleted
    if (r.kind == request_kind::largest)
        --c->round.fence().registers_asked;
    else
        c->round.ballots().record_answer(node, r.ballot, ballot_answer::unknown);
    go_on(r.reference, now);
    return true;
}

void acquisition::ask_spares(claim_id id, time_point now)
{
    claim& c = claims_[id];
    if (!c.round.is_fenced() || c.stage != claim_stage::held)
        return;
    const ballot_round& round = c.round.ballots();
    bool due = false, larger = false;
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        const bool could_be_spare = round.could_be_spare(i) && !c.keys[i].lost;
        if (could_be_spare || round.is_due(i))
            (could_be_spare ? larger : due) |= is_fit(c, i, now);
    }
    core::time_point& larger_at = c.round.fence().larger_at;
    if (larger && now >= larger_at && round.number() < most_ballots_of_lease &&
        dialect_.choose_ballot(c, now)) {
        larger_at = now + c.params.ttl / 10 + round.number() / 10 * longer_after_ten;
        due = true;
    }
    if (due)
        go_on(id, now);
}

bool acquisition::is_fit(claim& c, std::size_t node, time_point now)
{
    return nodes_.is_ready(node) && dialect_.refuses(node, c, now) == errc{};
}

void acquisition::time_out(claim_id id)
{
    claim& c = claims_[id];
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (c.round.votes().of(i) != vote::pending)
            continue;
        const bool unsent = c.keys[i].state == key::unsent;
        if (unsent || c.keys[i].again) {
            c.not_granted(i, unsent ? vote::failed : vote::refused);
            continue;
        }
        nodes_[i].count_timeout();
        c.not_granted(i, vote::unknown);
    }
}

} // namespace holdfast::redis
