// When a lease is granted, what is required then, and when it ends.
#include "redis/quorum/majority.hpp"
#include "verification/model/nodes.hpp"
#include "verification/model/protocol.hpp"

#include <algorithm>

namespace holdfast::model {

using redis::ballot_round;
using redis::majority;

// Whether the answer of the node is one of those that make the lease.
bool protocol::proves(const client& c, std::size_t at) const noexcept
{
    return rounds_.counts(c.round, at) ||
           ((how_.separate_majorities || how_.one_register) && rounds_.at(c.round).has_key(at));
}

// The nodes whose keys are the client's, by its clock.
std::size_t protocol::alive(const world& w, attempt a, bool key_is_enough) const noexcept
{
    const client& c = w.who[a];
    std::size_t count = 0;
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        const link& l = w.nodes[i].links[a];
        const bool in_time = timed() ? l.until > w.time : !l.gone;
        const bool proven = proves(c, i) || (key_is_enough && rounds_.at(c.round).has_key(i));
        count += in_time && proven ? 1u : 0u;
    }
    return count;
}

// Whether the lease is granted now.
bool protocol::is_enough(const world& w, attempt a) const noexcept
{
    const client& c = w.who[a];
    const ballot_round& r = rounds_.at(c.round);
    std::size_t keys = 0, stamps = 0;
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        keys += r.has_key(i) ? 1u : 0u;
        stamps += w.nodes[i].links[a].stamped ? 1u : 0u;
    }
    const std::size_t wanted = majority(scope_.nodes);
    bool acquired = r.judge() == redis::verdict::acquired;
    if (how_.separate_majorities)
        acquired = keys >= wanted && stamps >= wanted;
    if (how_.one_register)
        acquired = keys >= wanted && r.votes().count(redis::vote::granted) >= 1;
    if (scope_.keys == expiry::adversarial || how_.late_success)
        return acquired;
    return acquired && alive(w, a, false) >= wanted;
}

bool protocol::is_valid(const world& w, attempt a) const noexcept
{
    return alive(w, a, how_.key_is_enough) >= majority(scope_.nodes);
}

// The lease is granted: its token is used, the lease is transferred within the process, and the
// next token is used.
unsigned protocol::grant(world& w, attempt a) const
{
    client& c = w.who[a];
    const auto ballot = static_cast<small>(rounds_.at(c.round).ballot());
    const bool by_grant = scope_.keys != expiry::adversarial;
    const unsigned earlier = by_grant ? largest_of(w.published) : c.least;
    // The distance at which the tokens of two ballots are disjoint.
    const unsigned apart = how_.unscaled_tokens ? block : 1;
    unsigned violated = none;
    for (unsigned other = 1; other <= largest_ballot; ++other) {
        const bool near = other < ballot + apart && ballot < other + apart;
        if (near && (w.published >> other & 1) != 0)
            violated |= duplicate;
    }
    if (earlier != 0 && ballot < earlier + apart)
        violated |= order;
    for (attempt b = 0; b < scope_.attempts && by_grant; ++b) {
        if (w.who[b].now == phase::held)
            violated |= overlap; // it is valid: otherwise it would have ended
    }
    w.published = static_cast<std::uint16_t>(w.published | 1u << ballot);
    tell(w, a, round_book::input::publish, 0);
    c.now = phase::held;
    c.ballot = scope_.writes ? ballot : small{0};
    if (!by_grant && !scope_.writes)
        end(w, a);
    return violated;
}

// The guarded store refuses a write with a smaller token than it has seen. A write takes any time.
unsigned protocol::write(world& w, attempt a) const
{
    const client c = w.who[a];
    end(w, a);
    if (c.ballot < w.store)
        return none;
    const unsigned violated = c.ballot <= w.older ? stale : none;
    w.store = c.ballot;
    w.older = std::max(w.older, c.least);
    return violated;
}

// Whether too many nodes have refused.
bool protocol::has_failed(const client& c) const noexcept
{
    const redis::verdict v = rounds_.at(c.round).judge();
    return v == redis::verdict::contended || v == redis::verdict::unreachable;
}

// Registers only grow: whether too few of them can accept the ballot.
bool protocol::is_hopeless(const world& w, attempt a) const noexcept
{
    const client& c = w.who[a];
    std::size_t possible = 0;
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        const bool waits = !w.nodes[i].links[a].requests.empty() && has_effect(w, a, i);
        possible += waits || rounds_.counts(c.round, i) ? 1u : 0u;
    }
    return possible < majority(scope_.nodes);
}

// Ends leases that are not valid any more, and forgets what has no effect any more, so that there
// are fewer states.
void protocol::settle(world& w) const
{
    const bool by_deadline = scope_.keys != expiry::adversarial;
    for (attempt a = 0; a < scope_.attempts; ++a) {
        client& c = w.who[a];
        if (c.now == phase::held && by_deadline && !is_valid(w, a))
            end(w, a);
        const bool keeps_growing =
            without_keys() && scope_.further == 0 && !how_.one_register && !how_.accepts_all;
        if (c.now == phase::asking && keeps_growing && is_hopeless(w, a))
            end(w, a);
        if (c.now == phase::asking && scope_.asks == 0 && has_failed(c))
            end(w, a);
        if (c.now == phase::held && !scope_.writes)
            c.least = 0;
        unsigned pending = 0;
        for (std::size_t i = 0; i < scope_.nodes; ++i) {
            link& l = w.nodes[i].links[a];
            const unsigned last = l.requests.front();
            if (c.now == phase::ended && l.requests.at(1) == 0 && last > set_request &&
                !accepts(w.nodes[i], c.ballots[last - ballot_request(1)], how_))
                l.requests.pop();
            for (unsigned r = set_request; r <= ballot_request(most_proposals); ++r)
                pending |= l.requests.has(r) ? 1u << r : 0u;
        }
        for (unsigned number = 1; number <= most_proposals; ++number) {
            if ((pending >> ballot_request(number) & 1) == 0)
                c.ballots[number - 1] = 0;
        }
        if ((pending >> set_request & 1) == 0)
            c.begun = 0;
    }
}

// The client hears no more replies. Requests are under way, if they are steps of their own: else
// they could only keep others out.
void protocol::end(world& w, attempt a) const
{
    client& c = w.who[a];
    c = {.now = phase::ended, .ballots = c.ballots};
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        node& n = w.nodes[i];
        link& l = n.links[a];
        link kept;
        kept.requests = l.requests;
        kept.stray = l.stray;
        l = kept;
        if (scope_.each_step)
            continue;
        l.requests = {};
        l.stray = false;
        if (n.held_by(a)) {
            n.lock = 0;
            n.until = 0;
        }
    }
}

bool protocol::over(const world& w) const noexcept
{
    for (attempt a = 0; a < scope_.attempts; ++a) {
        const phase now = w.who[a].now;
        if (now == phase::idle || now == phase::asking || (now == phase::held && scope_.writes))
            return false;
    }
    return true;
}

} // namespace holdfast::model
