// The steps of processes, and what is required of them.
#include "verification/model/baton/clients.hpp"
#include "verification/model/baton/nodes.hpp"
#include "verification/model/baton/protocol.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::model::baton {

using kind = step_kind;
using status = renewal::status;

unsigned protocol::take(world& w, const step& s) const
{
    const unsigned violated = perform(w, s);
    settle(w);
    return violated | judge(w);
}

unsigned protocol::perform(world& w, const step& s) const
{
    const std::size_t p = s.who, at = s.node;
    client& c = w.who[p];
    const auto bit = bit_of(at);
    switch (s.kind) {
    case kind::begin:
        c.now = phase::asking;
        c.token = name_of(p);
        c.begun = w.time;
        c.sets = all_nodes;
        break;
    case kind::enter:
        c.now = phase::waiting;
        c.token = name_of(p);
        c.entered = w.time;
        ask_for_place(w, p, false);
        break;
    case kind::enqueue:
        ask_for_place(w, p, s.value != 0);
        break;
    case kind::place:
        place(w, p);
        break;
    case kind::read_place:
        read_place(w, p, s.value != 0);
        break;
    case kind::lose_place:
        lose_place(w, p);
        break;
    case kind::late_place:
        enqueue(w, p, c.late_again, ttl_of(p));
        c.late_place = c.late_again = false;
        break;
    case kind::go_on:
        c.now = phase::asking;
        c.begun = w.time;
        c.sets = all_nodes;
        break;
    case kind::set:
        set(w, p, at);
        break;
    case kind::renew:
        ++w.renewals;
        c.renewals[at] = {.is = status::sent, .asked = w.time};
        break;
    case kind::execute:
        c.renewals[at].is = renew(w, p, at) ? status::confirmed : status::missing;
        break;
    case kind::read:
        read_renewal(w, p, at);
        break;
    case kind::lose:
        ++w.lost_answers;
        lose_renewal(w, p, at);
        break;
    case kind::late_renewal:
        renew(w, p, at);
        c.late_renewals &= static_cast<std::uint8_t>(~bit);
        break;
    case kind::give:
        give(w, p);
        break;
    case kind::execute_give:
        return execute_give(w, p, s.value);
    case kind::read_give:
        read_give(w, p);
        break;
    case kind::lose_give:
        if (how_.doubt_deletes) {
            release(c, all_nodes);
        } else {
            c.now = phase::doubt;
            c.deletions = bit_of(queue_node);
        }
        break;
    case kind::take: {
        const gift given = c.push;
        c.push = {};
        accept(w, p, given, s.value != 0);
        break;
    }
    case kind::release:
        release(c, c.now == phase::waiting ? bit_of(queue_node) : all_nodes);
        break;
    case kind::remove:
        return remove(w, p, at);
    case kind::discard:
        return discard(w, p, at);
    case kind::tick:
        tick(w);
        break;
    case kind::crash:
        ++w.crashes;
        w.nodes[at] = {.down = true};
        w.nodes[at].until =
            static_cast<small>(w.time + (how_.early_return ? small{1} : scope_.longest_ttl()));
        if (at == queue_node)
            w.queue = {};
        break;
    }
    return none;
}

void protocol::ask_for_place(world& w, std::size_t p, bool confirms) const
{
    client& c = w.who[p];
    c.place = {.is = placing::status::sent, .again = c.queued, .asked = w.time};
    c.queued = true;
    if (how_.from_last_request)
        c.entered = w.time;
    if (scope_.each_place)
        return;
    c.push = {}; // what was pushed before and has not been read is lost
    place(w, p);
    read_place(w, p, confirms);
}

void protocol::read_place(world& w, std::size_t p, bool confirms) const
{
    client& c = w.who[p];
    const placing answer = std::exchange(c.place, {});
    if (answer.is == placing::status::has_baton)
        return accept(w, p, answer.given, confirms);
    if (answer.is != placing::status::granted || c.now != phase::waiting)
        return;
    c.queued = false;
    c.now = phase::asking;
    c.begun = w.time;
    c.until[queue_node] = static_cast<small>(answer.asked + ttl_of(p));
    c.keys_end = static_cast<small>(w.time + ttl_of(p));
    c.sets = other_nodes;
}

// Also a request that has not been sent before.
void protocol::lose_place(world& w, std::size_t p) const
{
    client& c = w.who[p];
    if (c.place.is == placing::status::none || c.place.is == placing::status::sent) {
        c.late_place = true;
        c.late_again = c.place.again || c.place.is == placing::status::none;
    }
    c.place = {};
    c.strayed = c.strayed || !how_.ignores_lost_places;
    ++w.lost_places;
}

// A process is given a lease: see fair_queue::accept and life_cycle::on_baton.
void protocol::accept(world& w, std::size_t p, const gift& given, bool confirms) const
{
    client& c = w.who[p];
    if (how_.taken_twice && c.now == phase::giving)
        return take_over(w, p, given, confirms);
    if (!c.queued || (c.token == given.token && !how_.discards_repeats))
        return; // also a repeat
    if (c.now == phase::waiting)
        return take_over(w, p, given, confirms);
    c.queued = false;
    c.unwanted = {.token = given.token, .lag = given.lag};
    c.discards = all_nodes;
}

void protocol::take_over(world& w, std::size_t p, const gift& given, bool confirms) const
{
    client& c = w.who[p];
    int lasts = given.left - (how_.lag_ignored ? 0 : given.lag);
    if (!how_.full_ttl)
        lasts = std::min<int>(lasts, ttl_of(p));
    const int until = (how_.from_receipt ? w.time : c.entered) + lasts;
    c.token = given.token;
    c.lag = given.lag;
    c.renewed = false;
    c.queued = scope_.everywhere;
    c.keys_end = how_.end_forgotten ? small{0} : static_cast<small>(w.time + given.left);
    const bool counts = until > w.time && !confirms;
    c.now = counts ? phase::held : phase::confirming;
    c.until.fill(counts ? static_cast<small>(until) : small{0});
    for (renewal& each : c.renewals)
        each = counts ? renewal{} : renewal{.is = status::sent, .asked = w.time, .confirms = true};
}

void protocol::read_renewal(world& w, std::size_t p, std::size_t at) const
{
    client& c = w.who[p];
    const renewal r = c.renewals[at];
    c.renewals[at] = {};
    if (c.now != phase::held && c.now != phase::confirming)
        return;
    if (r.is == status::missing) {
        c.until[at] = 0;
        return;
    }
    c.until[at] = std::max(c.until[at], static_cast<small>(r.asked + ttl_of(p)));
    c.keys_end = std::max(c.keys_end, static_cast<small>(w.time + ttl_of(p)));
    const bool keeps_lag = r.confirms ? how_.lag_after_confirming : how_.lag_unmeasured;
    c.renewed = c.renewed || !keeps_lag;
}

void protocol::lose_renewal(world& w, std::size_t p, std::size_t at) const
{
    client& c = w.who[p];
    if (c.renewals[at].is == status::sent)
        c.late_renewals |= bit_of(at);
    c.renewals[at] = {};
    c.strayed = c.strayed || !how_.gives_strayed;
}

small protocol::lag_of(const client& c) const noexcept
{
    return static_cast<small>(std::max(c.keys_end - valid_until(c), 0));
}

void protocol::give(world& w, std::size_t p) const
{
    client& c = w.who[p];
    c.given_lag = came_by_baton(c, p) && !c.renewed ? c.lag : lag_of(c);
    c.now = phase::giving;
    c.give = giving::sent;
    c.sets = 0;
}

void protocol::read_give(world& w, std::size_t p) const
{
    client& c = w.who[p];
    switch (std::exchange(c.give, giving::none)) {
    case giving::given:
        c.now = phase::gone;
        break;
    case giving::nobody_waits:
        release(c, all_nodes);
        break;
    default:
        release(c, other_nodes); // the queue node's key is not ours any more
        break;
    }
}

void protocol::release(client& c, std::uint8_t nodes) const
{
    c.now = phase::leaving;
    c.deletions = nodes;
    c.sets = 0;
}

bool protocol::believes(const world& w, std::size_t p) const noexcept
{
    const client& c = w.who[p];
    const bool counts = c.now == phase::held || (how_.doubt_holds && c.now == phase::giving);
    return counts && valid_until(c) > w.time;
}

unsigned protocol::judge(const world& w) const noexcept
{
    unsigned violated = none, holders = 0;
    for (std::size_t p = 0; p < scope_.processes; ++p) {
        if (!believes(w, p))
            continue;
        ++holders;
        std::size_t there = 0;
        for (const node& n : w.nodes)
            there += n.down || n.key.token == w.who[p].token ? 1u : 0u;
        if (there < majority)
            violated |= hollow;
    }
    if (holders > 1)
        violated |= overlap;
    for (const node& n : w.nodes) {
        if (n.until > w.time + scope_.longest_ttl())
            violated |= endless;
    }
    return violated;
}

// Whether no process can have a lease any more.
bool protocol::over(const world& w) const noexcept
{
    for (std::size_t p = 0; p < scope_.processes; ++p) {
        const phase now = w.who[p].now;
        if (now != phase::doubt && now != phase::leaving && now != phase::gone)
            return false;
    }
    return true;
}

// Leases whose time is up end. What has no effect any more is forgotten, so that there are fewer
// states.
void protocol::settle(world& w) const
{
    for (std::size_t p = 0; p < scope_.processes; ++p) {
        client& c = w.who[p];
        // A lease counts as soon as it can.
        if ((c.now == phase::asking || c.now == phase::confirming) && valid_until(c) > w.time)
            c.now = phase::held;
        if (c.now == phase::held && !believes(w, p))
            release(c, all_nodes);
        if (c.now == phase::leaving && c.deletions == 0)
            c.now = phase::gone;
        for (small& each : c.until) {
            if (each <= w.time)
                each = 0;
        }
        const bool has_time = c.now == phase::asking || c.now == phase::confirming ||
                              c.now == phase::held || (how_.doubt_holds && c.now == phase::giving);
        if (!has_time) {
            c.until = {};
            c.keys_end = 0;
            c.renewed = false;
        }
        if (c.now != phase::waiting && !how_.taken_twice)
            c.entered = 0;
        if (c.sets != 0 && c.begun + ttl_of(p) <= w.time)
            c.sets = 0; // they can only keep others out
        if (c.sets == 0)
            c.begun = 0;
        for (renewal& each : c.renewals) {
            const bool answered = each.is == status::confirmed || each.is == status::missing;
            if (answered && !has_time && c.now != phase::giving)
                each = {};
        }
        if (c.give != giving::sent)
            c.given_lag = 0;
        if (c.give != giving::sent && c.now != phase::giving)
            c.give = giving::none;
        if (c.discards == 0)
            c.unwanted = {};
        if (how_.taken_twice)
            continue;
        const auto counts = [&](const gift& g) {
            const bool repeats = g.token == c.token && !how_.discards_repeats;
            return g.token != 0 && (c.now == phase::waiting || (c.queued && !repeats));
        };
        if (!counts(c.push))
            c.push = {};
        const bool has_answer =
            c.place.is != placing::status::none && c.place.is != placing::status::sent;
        if (has_answer && c.now != phase::waiting && !counts(c.place.given))
            c.place = {};
        if (c.now == phase::gone && c.push.token == 0 && c.place.is == placing::status::none &&
            c.give == giving::none && c.late_renewals == 0 && is_settled(c) && !how_.giver_renews) {
            c.token = c.queued ? c.token : name{0};
            c.lag = 0;
            c.strayed = false;
        }
    }
}

} // namespace holdfast::model::baton
