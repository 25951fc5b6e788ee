// Which steps are possible, and those of the nodes.
#include "verification/model/baton/protocol.hpp"

#include "verification/model/baton/clients.hpp"
#include "verification/model/baton/nodes.hpp"

#include <algorithm>

namespace holdfast::model::baton {

using kind = step_kind;
using status = renewal::status;

void protocol::steps(const world& w, std::vector<step>& found) const
{
    found.clear();
    for (std::size_t p = 0; p < scope_.processes; ++p) {
        if (w.who[p].now == phase::idle) {
            idle_steps(w, p, found);
            continue;
        }
        client_steps(w, p, found);
        for (std::size_t i = 0; i < node_count; ++i) {
            if (!w.nodes[i].down)
                link_steps(w, p, i, found);
        }
    }
    for (std::uint8_t i = 0; i < node_count && w.crashes < scope_.crashes; ++i) {
        if (!w.nodes[i].down)
            found.push_back({.kind = kind::crash, .node = i});
    }
    if (w.time < scope_.last_time)
        found.push_back({.kind = kind::tick});
}

void protocol::idle_steps(const world& w, std::size_t p, std::vector<step>& found) const
{
    // Processes that are alike begin in the order of their numbers.
    const bool is_like_last =
        p > 0 && ttl_of(p) == ttl_of(p - 1) && scope_.old[p] == scope_.old[p - 1] &&
        scope_.sets[p] == scope_.sets[p - 1] && scope_.queues[p] == scope_.queues[p - 1] &&
        scope_.renews[p] == scope_.renews[p - 1] && scope_.goes_on[p] == scope_.goes_on[p - 1];
    if (is_like_last && w.who[p - 1].now == phase::idle)
        return;
    if (scope_.sets[p])
        found.push_back({.kind = kind::begin, .who = static_cast<std::uint8_t>(p)});
    if (scope_.queues[p] && !w.nodes[queue_node].down)
        found.push_back({.kind = kind::enter, .who = static_cast<std::uint8_t>(p)});
}

void protocol::client_steps(const world& w, std::size_t p, std::vector<step>& found) const
{
    const client& c = w.who[p];
    const auto add = [&](kind what, small how = 0) {
        found.push_back({.kind = what, .who = static_cast<std::uint8_t>(p), .value = how});
    };
    switch (c.now) {
    case phase::waiting:
        if (scope_.goes_on[p])
            add(kind::go_on);
        if (scope_.gives_up)
            add(kind::release);
        break;
    case phase::asking:
    case phase::confirming:
        if (scope_.gives_up)
            add(kind::release);
        break;
    case phase::held:
        add(kind::release);
        if (may_give(w, p))
            add(kind::give);
        break;
    case phase::giving:
        if (c.give != giving::sent)
            add(kind::read_give);
        add(kind::lose_give);
        break;
    default:
        break;
    }
    if (c.push.token != 0) {
        add(kind::take);
        if (c.now == phase::waiting)
            add(kind::take, 1);
    }
}

bool protocol::may_renew(const client& c) const noexcept
{
    if (c.now == phase::held)
        return true;
    return how_.giver_renews && (c.now == phase::giving || c.now == phase::gone) && c.token != 0;
}

bool protocol::may_give(const world& w, std::size_t p) const noexcept
{
    const client& c = w.who[p];
    if (!believes(w, p) || scope_.old[p] || c.until[queue_node] <= w.time)
        return false;
    return (is_settled(c) || how_.gives_early) && !c.strayed && (!c.queued || how_.gives_queued);
}

void protocol::link_steps(
    const world& w, std::size_t p, std::size_t at, std::vector<step>& found) const
{
    const client& c = w.who[p];
    const node& n = w.nodes[at];
    const auto add = [&](kind what, small how = 0) {
        found.push_back({.kind = what,
            .who = static_cast<std::uint8_t>(p),
            .node = static_cast<std::uint8_t>(at),
            .value = how});
    };
    const unsigned bit = bit_of(at);
    if ((c.late_renewals & bit) != 0 && n.key == value_at(c, p, at))
        add(kind::late_renewal);
    if (at == queue_node) {
        place_steps(w, p, found);
        if (c.place.is == placing::status::sent)
            return; // other requests come after it
        for (small deaf = 0; c.give == giving::sent && deaf < scope_.processes; ++deaf)
            add(kind::execute_give, deaf);
    }
    if ((c.sets & bit) != 0 && n.key.token == 0)
        add(kind::set);
    const renewal& r = c.renewals[at];
    if (scope_.renews[p] && may_renew(c) && r.is == status::none && w.renewals < scope_.renewals &&
        (c.until[at] > w.time || c.now != phase::held))
        add(kind::renew);
    if (r.is == status::sent)
        add(kind::execute);
    if (r.is == status::confirmed || r.is == status::missing)
        add(kind::read);
    if (r.is != status::none && w.lost_answers < scope_.lost_answers)
        add(kind::lose);
    if ((c.deletions & bit) != 0)
        add(kind::remove);
    if ((c.discards & bit) != 0)
        add(kind::discard);
}

void protocol::place_steps(const world& w, std::size_t p, std::vector<step>& found) const
{
    using placed = placing::status;
    const client& c = w.who[p];
    const auto add = [&](kind what, small how = 0) {
        found.push_back({.kind = what, .who = static_cast<std::uint8_t>(p), .value = how});
    };
    const bool may_lose = !c.late_place && w.lost_places < scope_.lost_places;
    if (c.late_place)
        add(kind::late_place);
    if (c.place.is == placed::none && c.now == phase::waiting) {
        add(kind::enqueue);
        if (!scope_.each_place && w.nodes[queue_node].key.place == name_of(p))
            add(kind::enqueue, 1);
        if (!scope_.each_place && may_lose)
            add(kind::lose_place);
    }
    if (c.place.is == placed::none)
        return;
    if (may_lose)
        add(kind::lose_place);
    if (c.place.is == placed::sent)
        return add(kind::place);
    add(kind::read_place);
    if (c.place.is == placed::has_baton && c.now == phase::waiting)
        add(kind::read_place, 1);
}

void protocol::set(world& w, std::size_t p, std::size_t at) const
{
    client& c = w.who[p];
    node& n = w.nodes[at];
    n.key = {.token = c.token};
    n.until = static_cast<small>(w.time + ttl_of(p));
    c.sets &= static_cast<std::uint8_t>(~bit_of(at));
    c.until[at] = static_cast<small>(c.begun + ttl_of(p));
    c.keys_end = std::max(c.keys_end, n.until);
}

void protocol::place(world& w, std::size_t p) const
{
    client& c = w.who[p];
    const node& n = w.nodes[queue_node];
    switch (enqueue(w, p, c.place.again, ttl_of(p))) {
    case place_answer::waits:
        c.place.is = placing::status::waits;
        break;
    case place_answer::granted:
        c.place.is = placing::status::granted;
        break;
    case place_answer::has_baton:
        c.place.is = placing::status::has_baton;
        c.place.given = {
            .token = n.key.token, .left = static_cast<small>(n.until - w.time), .lag = n.key.lag};
        break;
    }
}

// renew_script
bool protocol::renew(world& w, std::size_t p, std::size_t at) const
{
    node& n = w.nodes[at];
    if (n.key.token == 0 || n.key != value_at(w.who[p], p, at))
        return false;
    n.until = static_cast<small>(w.time + ttl_of(p));
    return true;
}

// baton_script. `deaf`: so many waiters do not receive the message.
unsigned protocol::execute_give(world& w, std::size_t p, unsigned deaf) const
{
    client& c = w.who[p];
    node& n = w.nodes[queue_node];
    const value mine = value_at(c, p, queue_node);
    unsigned violated = none;
    if (n.key != mine && !how_.any_value) {
        c.give = giving::not_ours;
        return none;
    }
    const auto left = static_cast<small>(n.until > w.time ? n.until - w.time : ttl_of(p));
    c.give = giving::nobody_waits;
    while (!w.queue.empty()) {
        const auto to = static_cast<name>(w.queue.pop());
        if (to == mine.token || to == mine.place)
            continue;
        if (deaf > 0) {
            --deaf;
            continue;
        }
        if (n.key != mine && n.key.token != 0)
            violated |= steals(w, p, n.key);
        client& next = w.who[to - 1];
        if (scope_.old[to - 1]) {
            n.key = {.token = to};
            n.until = static_cast<small>(w.time + turn_ttl);
            c.give = giving::handed_off;
        } else {
            n.key = {.token = mine.token, .place = to, .lag = c.given_lag};
            n.until = how_.without_ttl ? small{15} : static_cast<small>(w.time + left);
            next.push = {.token = mine.token, .left = left, .lag = c.given_lag};
            c.give = giving::given;
        }
        break;
    }
    return violated;
}

// Whether a key of that value belongs to another process.
unsigned protocol::steals(const world& w, std::size_t p, const value& key) const noexcept
{
    const value& there = w.nodes[queue_node].key;
    for (std::size_t other = 0; other < scope_.processes; ++other) {
        const client& c = w.who[other];
        if (other == p)
            continue;
        const bool has = c.token == key.token && (c.now == phase::confirming || believes(w, other));
        const bool gets =
            there.token == key.token && there.place == name_of(other) && c.now == phase::waiting;
        if (has || gets)
            return stolen;
    }
    return none;
}

// release_script, or pass_on_script at the queue node; and what the process does next.
unsigned protocol::remove(world& w, std::size_t p, std::size_t at) const
{
    client& c = w.who[p];
    const bool doubts = c.now == phase::doubt;
    const value key = w.nodes[at].key;
    const bool turn = at == queue_node && c.queued && key == value{.token = name_of(p)};
    bool mine = key.token != 0 && (key == value_at(c, p, at) || turn);
    if (how_.doubt_by_token && doubts)
        mine = mine || key.token == c.token;
    c.deletions &= static_cast<std::uint8_t>(~bit_of(at));
    if (c.renewals[at].is == status::sent)
        c.renewals[at] = {}; // it came before, or never will
    const bool was_queued = c.queued && at == queue_node;
    if (was_queued)
        leave(w, p);
    unsigned violated = none;
    if (mine) {
        violated = steals(w, p, key);
        hand_off(w, at);
    }
    if (doubts) {
        c.now = mine ? phase::leaving : phase::gone;
        c.deletions = mine ? other_nodes : std::uint8_t{0};
    }
    if (was_queued && !mine && key.place == name_of(p)) {
        const auto left = static_cast<small>(w.nodes[at].until - w.time);
        accept(w, p, {.token = key.token, .left = left, .lag = key.lag}, false);
    }
    if (at == queue_node)
        c.queued = false;
    return violated;
}

// The same for a lease that the process has got and does not want.
unsigned protocol::discard(world& w, std::size_t p, std::size_t at) const
{
    client& c = w.who[p];
    const value key = w.nodes[at].key;
    value mine{.token = c.unwanted.token};
    if (at == queue_node)
        mine = {.token = c.unwanted.token, .place = name_of(p), .lag = c.unwanted.lag};
    c.discards &= static_cast<std::uint8_t>(~bit_of(at));
    if (key != mine)
        return none;
    const unsigned violated = steals(w, p, key);
    hand_off(w, at);
    return violated;
}

void protocol::tick(world& w) const
{
    ++w.time;
    for (node& n : w.nodes) {
        if (n.until != 0 && n.until <= w.time)
            n = {};
    }
}

} // namespace holdfast::model::baton
