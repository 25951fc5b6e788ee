#include "verification/model/protocol.hpp"

#include "redis/quorum/majority.hpp"
#include "verification/model/nodes.hpp"

#include <algorithm>

namespace holdfast::model {

using kind = step_kind;
using input = round_book::input;
using redis::ballot_round;
using redis::vote;

world protocol::beginning() const noexcept
{
    world w;
    w.time = timed() ? 1 : 0;
    return w;
}

// The largest ballot that a client may choose now.
small protocol::largest(const world& w) const noexcept
{
    if (!timed())
        return scope_.ballots;
    int most = w.time + scope_.ahead;
    for (std::size_t i = 0; i < scope_.nodes && how_.follows_far; ++i)
        most = std::max(most, w.nodes[i].register_ + 1);
    return static_cast<small>(std::min<int>(most, largest_ballot));
}

void protocol::steps(const world& w, std::vector<step>& found) const
{
    found.clear();
    for (attempt a = 0; a < scope_.attempts; ++a) {
        client_steps(w, a, found);
        for (std::size_t i = 0; i < scope_.nodes; ++i)
            link_steps(w, a, i, found);
    }
    for (std::size_t i = 0; i < scope_.nodes; ++i)
        node_steps(w, i, found);
    if (timed() && w.time < scope_.last_time)
        found.push_back({.kind = kind::tick});
}

void protocol::client_steps(const world& w, attempt a, std::vector<step>& found) const
{
    const client& c = w.who[a];
    const ballot_round& r = rounds_.at(c.round);
    const auto propose = [&] {
        for (auto k = static_cast<unsigned>(r.ballot()) + 1; k <= largest(w); ++k)
            found.push_back({.kind = kind::propose, .who = a, .value = static_cast<small>(k)});
    };
    switch (c.now) {
    case phase::idle:
        // Attempts have no identity: let them begin in the order of their numbers.
        for (small k = 1; k <= largest(w) && (a == 0 || w.who[a - 1].now != phase::idle); ++k)
            found.push_back({.kind = kind::begin, .who = a, .value = k});
        break;
    case phase::asking:
        if (r.needs_larger() && w.further < scope_.further)
            propose();
        if (grants_later() && is_enough(w, a))
            found.push_back({.kind = kind::grant, .who = a});
        break;
    case phase::held:
        if (scope_.writes)
            found.push_back({.kind = kind::write, .who = a});
        for (std::size_t i = 0; scope_.spares && i < scope_.nodes; ++i) {
            if (w.further < scope_.further && r.could_be_spare(i)) {
                propose();
                break;
            }
        }
        break;
    case phase::ended:
        break;
    }
}

void protocol::link_steps(const world& w, attempt a, std::size_t at, std::vector<step>& found) const
{
    const client& c = w.who[a];
    const node& n = w.nodes[at];
    const link& l = n.links[a];
    const ballot_round& r = rounds_.at(c.round);
    const auto add = [&](kind what) {
        found.push_back({.kind = what, .who = a, .node = static_cast<std::uint8_t>(at)});
    };
    if (!l.requests.empty() && (scope_.each_step || has_effect(w, a, at)))
        add(kind::execute);
    if (!l.replies.empty())
        add(kind::read);
    if (c.now == phase::asking && w.asks < scope_.asks) {
        const bool asked =
            l.requests.has(set_request) || l.replies.has(key_granted) || l.replies.has(key_refused);
        if (!r.has_key(at) && r.of(at) == vote::refused && !asked)
            add(kind::ask);
        if (r.has_key(at) && l.gone && !rounds_.counts(c.round, at))
            add(kind::lose);
    }
    if (w.cuts < scope_.cuts && c.active() && l.requests.front() == set_request && !l.stray)
        add(kind::cut);
    if (l.stray && n.lock == 0)
        add(kind::arrive);
    if (scope_.renewals && c.now == phase::held) {
        const int until = w.time + scope_.ttl;
        const bool counts_more = l.repaired ? l.until <= w.time : l.until < until;
        if (n.held_by(a) && (n.until < until || counts_more))
            add(kind::renew);
        if (n.lock == 0)
            add(kind::repair);
    }
}

void protocol::node_steps(const world& w, std::size_t at, std::vector<step>& found) const
{
    const node& n = w.nodes[at];
    const auto i = static_cast<std::uint8_t>(at);
    if (n.lock != 0 && !timed())
        found.push_back({.kind = kind::expire, .who = static_cast<attempt>(n.lock - 1), .node = i});
    if (w.losses < scope_.losses && scope_.flushes)
        found.push_back({.kind = kind::flush, .node = i});
    if (w.losses < scope_.losses && scope_.restarts)
        found.push_back({.kind = kind::restart, .node = i, .value = 0});
    for (int clock = w.time - scope_.late; clock <= w.time; ++clock) {
        const auto value = static_cast<small>(std::max(clock, 0));
        if (n.empty)
            found.push_back({.kind = kind::open, .node = i, .value = value});
        if (w.losses < scope_.losses && scope_.restarts)
            found.push_back({.kind = kind::restart, .node = i, .value = value});
    }
}

// Requests that are not steps of their own in the scope are executed only if that matters.
bool protocol::has_effect(const world& w, attempt a, std::size_t at) const noexcept
{
    const node& n = w.nodes[at];
    const auto& requests = n.links[a].requests;
    const bool key = requests.front() == set_request;
    if (key && !without_keys())
        return n.lock == 0 || w.asks < scope_.asks; // a refusal permits to ask again
    const unsigned number = requests.at(key ? 1 : 0) - ballot_request(0);
    return scope_.further != 0 || accepts(n, w.who[a].ballots[number - 1], how_);
}

unsigned protocol::take(world& w, const step& s) const
{
    const unsigned violated = perform(w, s);
    settle(w);
    return violated;
}

unsigned protocol::perform(world& w, const step& s) const
{
    node& n = w.nodes[s.node];
    link& l = n.links[s.who];
    client& c = w.who[s.who];
    switch (s.kind) {
    case kind::begin:
        begin(w, s.who, s.value);
        break;
    case kind::execute:
        return execute(w, s.who, s.node);
    case kind::read:
        return hear(w, s.who, s.node, l.replies.pop());
    case kind::propose:
        ++w.further;
        tell(w, s.who, input::propose, 0, s.value);
        break;
    case kind::ask:
        ++w.asks;
        l.requests.push(set_request);
        tell(w, s.who, input::ask, s.node);
        break;
    case kind::lose:
        tell(w, s.who, input::lost, s.node);
        break;
    case kind::grant:
        return grant(w, s.who);
    case kind::write:
        return write(w, s.who);
    case kind::renew:
        n.until = static_cast<small>(w.time + scope_.ttl);
        if (l.until <= w.time && !how_.revived_counts)
            set_again(w, s.who, s.node); // it may have been gone
        else if (!l.repaired || how_.repaired_counts)
            l.until = n.until;
        break;
    case kind::repair:
        if (!how_.repaired_counts)
            tell(w, s.who, input::lost, s.node);
        settle(w);
        if (c.now != phase::held)
            break; // there was no majority without it
        set(n, s.who, static_cast<small>(w.time + scope_.ttl));
        l.repaired = l.until > w.time;
        if (how_.repaired_counts)
            l.until = n.until;
        else if (!l.repaired)
            set_again(w, s.who, s.node);
        break;
    case kind::cut: // no answer will come
        ++w.cuts;
        l.requests = {};
        l.stray = true;
        break;
    case kind::arrive:
        set(n, s.who, static_cast<small>(w.time + scope_.ttl));
        l.stray = false;
        break;
    case kind::expire:
        n.lock = 0;
        l.gone = c.active() && scope_.keys == expiry::honest;
        break;
    case kind::tick:
        tick(w);
        break;
    case kind::flush:
        flush(n);
        ++w.losses;
        break;
    case kind::open:
        open(n, s.value, static_cast<small>(w.time - scope_.late), scope_, how_);
        break;
    case kind::restart:
        flush(n);
        open(n, s.value, static_cast<small>(w.time - scope_.late), scope_, how_);
        ++w.losses;
        break;
    }
    return none;
}

// A key that was gone is there again. It counts when the node has accepted a larger ballot.
void protocol::set_again(world& w, attempt a, std::size_t at) const
{
    link& l = w.nodes[at].links[a];
    l.repaired = false;
    l.until = w.nodes[at].until;
    tell(w, a, input::lost, at);
    tell(w, a, input::granted, at);
}

void protocol::begin(world& w, attempt a, small ballot) const
{
    client& c = w.who[a];
    c.now = phase::asking;
    c.begun = w.time;
    if (scope_.keys == expiry::adversarial)
        c.least = largest_of(w.published);
    if (how_.register_first)
        tell(w, a, input::begin, 0, ballot);
    for (std::size_t i = 0; i < scope_.nodes; ++i)
        w.nodes[i].links[a].requests.push(set_request);
    if (!how_.register_first)
        tell(w, a, input::begin, 0, ballot);
}

// Tells the round, and sends the current ballot where the round says.
void protocol::tell(world& w, attempt a, input what, std::size_t at, unsigned value) const
{
    client& c = w.who[a];
    const round_book::outcome o = rounds_.apply(c.round, what, at, value);
    c.round = o.next;
    const ballot_round& r = rounds_.at(c.round);
    if (o.sent != 0)
        c.ballots[r.number() - 1u] = static_cast<small>(r.ballot());
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        if ((o.sent & bit_of(i)) != 0)
            w.nodes[i].links[a].requests.push(ballot_request(r.number()));
    }
}

unsigned protocol::execute(world& w, attempt a, std::size_t at) const
{
    node& n = w.nodes[at];
    link& l = n.links[a];
    client& c = w.who[a];
    const unsigned request = l.requests.pop();
    unsigned reply = 0;
    if (request == set_request) {
        const bool granted =
            without_keys() || set(n, a, static_cast<small>(timed() ? w.time + scope_.ttl : 0));
        if (granted && timed())
            l.until = static_cast<small>(c.begun + scope_.ttl);
        if (granted)
            l.gone = false;
        reply = granted ? key_granted : key_refused;
    } else {
        const unsigned number = request - ballot_request(0);
        reply = ballot_reply(number, stamp(n, c.ballots[number - 1], how_));
    }
    if (!c.active())
        return none;
    if (scope_.each_step) {
        l.replies.push(reply);
        return none;
    }
    const unsigned violated = hear(w, a, at, reply);
    // After a grant nothing is under way.
    const bool more = without_keys() && request == set_request && !l.requests.empty();
    return violated | (more ? execute(w, a, at) : unsigned{none});
}

// The client hears a reply.
unsigned protocol::hear(world& w, attempt a, std::size_t at, unsigned reply) const
{
    client& c = w.who[a];
    if (reply == key_granted || (reply == key_refused && how_.refused_counts)) {
        tell(w, a, input::granted, at);
    } else if (reply == key_refused) {
        tell(w, a, input::refused, at);
    } else if (accepted_in(reply) || how_.answers_unread) {
        w.nodes[at].links[a].stamped = how_.separate_majorities;
        tell(w, a, input::accepted, at, number_in(reply));
    } else {
        tell(w, a, input::rejected, at, number_in(reply));
    }
    const bool at_once = c.now == phase::asking && !grants_later();
    return at_once && is_enough(w, a) ? grant(w, a) : unsigned{none};
}

void protocol::tick(world& w) const
{
    ++w.time;
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        node& n = w.nodes[i];
        if (n.lock != 0 && n.until <= w.time) {
            n.lock = 0;
            n.until = 0;
        }
    }
}

} // namespace holdfast::model
