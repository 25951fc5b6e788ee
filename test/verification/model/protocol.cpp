#include "verification/model/protocol.hpp"

#include "redis/quorum/majority.hpp"
#include "verification/model/nodes.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::model {

using kind = step_kind;
using input = round_book::input;

namespace {

constexpr std::size_t other(std::size_t client) noexcept
{
    return 1 - client;
}

std::uint8_t without(std::uint8_t bits, std::size_t index) noexcept
{
    return static_cast<std::uint8_t>(bits & ~bit_of(index));
}

std::uint8_t with(std::uint8_t bits, std::size_t index) noexcept
{
    return static_cast<std::uint8_t>(bits | bit_of(index));
}

bool has(std::uint8_t bits, std::size_t index) noexcept
{
    return (bits & bit_of(index)) != 0;
}

number last_of_block(number token) noexcept
{
    return static_cast<number>(token + block - 1);
}

// The protected resource. It refuses a write with a smaller token than it has seen.
struct fenced_register {
    number largest = 0;

    bool write(number token) noexcept
    {
        if (token < largest)
            return false;
        largest = token;
        return true;
    }
};

} // namespace

void protocol::steps(const world& w, std::vector<step>& found) const
{
    found.clear();
    if (scope_.tokens_only)
        return fewer_steps(w, found);
    for (std::size_t c = 0; c < clients; ++c)
        client_steps(w, c, found);
    for (std::size_t i = 0; i < scope_.nodes; ++i)
        node_steps(w, i, found);
}

void protocol::client_steps(const world& w, std::size_t which, std::vector<step>& found) const
{
    const client& c = w.who[which];
    const unsigned next = c.now == phase::idle ? 0 : c.index + 1u;
    if (!c.active() && next < scope_.attempts[which]) {
        const attempt a = attempt_of(which, next);
        found.push_back({.kind = kind::begin, .who = a});
        if (scope_.floor != 0)
            found.push_back({.kind = kind::begin, .who = a, .flag = true});
    }
    if (!c.active())
        return;
    const attempt a = attempt_of(which, c.index);
    for (std::uint8_t i = 0; i < scope_.nodes; ++i) {
        if (w.nodes[i].talks[which].unread != 0 && !scope_.tokens_only)
            found.push_back({.kind = kind::read, .who = a, .node = i});
        if (how_.counter_read_at_use && c.now == phase::held)
            found.push_back({.kind = kind::use, .who = a, .node = i});
    }
    found.push_back({.kind = c.now == phase::held ? kind::release : kind::give_up, .who = a});
}

void protocol::node_steps(const world& w, std::size_t at, std::vector<step>& found) const
{
    const node& n = w.nodes[at];
    const auto i = static_cast<std::uint8_t>(at);
    for (attempt a = 0; a < all_attempts; ++a) {
        const client& c = w.who[client_of(a)];
        const bool published = has(c.published, index_of(a));
        if (has(n.grants, a)) {
            found.push_back({.kind = kind::grant, .who = a, .node = i});
            if (n.lock == 0 && w.is_present(a) && n.talks[client_of(a)].unread != 0)
                found.push_back({.kind = kind::grant, .who = a, .node = i, .flag = true});
        }
        if (has(n.raises, a))
            found.push_back({.kind = kind::write_back, .who = a, .node = i});
        if (published && holds(n, a, how_) && n.counter < last_of_block(c.tokens[index_of(a)]))
            found.push_back({.kind = kind::extend, .who = a, .node = i});
        if (published && n.lock == 0 && how_.extension_creates)
            found.push_back({.kind = kind::extend, .who = a, .node = i});
        const bool ended = c.now != phase::idle && index_of(a) <= c.index && !w.is_present(a);
        if (ended && holds(n, a, how_))
            found.push_back({.kind = kind::remove, .who = a, .node = i});
    }
    if (n.lock != 0)
        found.push_back({.kind = kind::expire, .who = static_cast<attempt>(n.lock - 1), .node = i});
    if (how_.node_forgets && !w.forgot)
        found.push_back({.kind = kind::forget, .node = i});
}

unsigned protocol::perform(world& w, const step& s) const
{
    node& n = w.nodes[s.node];
    talk& t = n.talks[client_of(s.who)];
    unsigned violated = none;
    switch (s.kind) {
    case kind::begin:
        begin(w, s.who, s.flag);
        return none;
    case kind::give_up:
    case kind::release:
        end(w, s.who);
        return none;
    case kind::read:
        return feed(w, s.who, input::granted, s.node, std::exchange(t.unread, number{0}));
    case kind::use:
        return judge_use(w, s.who, s.node);
    case kind::grant:
        violated = execute_grant(w, s.who, s.node, s.flag);
        if (scope_.tokens_only && !s.flag && t.unread != 0)
            violated |= feed(w, s.who, input::granted, s.node, std::exchange(t.unread, number{0}));
        break;
    case kind::stray:
        --n.copies;
        grant(n, s.who, 0, how_);
        n.lock = 0;
        break;
    case kind::write_back:
        return execute_raise(w, s.who, s.node);
    case kind::extend: {
        const client& c = w.who[client_of(s.who)];
        extend(n, s.who, last_of_block(c.tokens[index_of(s.who)]), how_);
        if (w.is_present(s.who) && rounds_.counts(c.round, s.node))
            t.gone = false;
        violated = judge_leases(w, clients);
        break;
    }
    case kind::remove:
        remove(n, s.who, how_);
        break;
    case kind::expire:
        n.lock = 0;
        if (w.is_present(s.who))
            t.gone = true;
        break;
    case kind::forget:
        n.lock = 0;
        n.counter = 0;
        w.forgot = true;
        break;
    }
    forget_dead_raises(w, s.node);
    return violated;
}

void protocol::begin(world& w, attempt a, bool with_floor) const
{
    const std::size_t which = client_of(a);
    client& c = w.who[which];
    c.now = phase::asking;
    c.index = static_cast<std::uint8_t>(index_of(a));
    c.round = round_book::fresh;
    c.before = w.who[other(which)].published;
    if (with_floor)
        c.floored = with(c.floored, index_of(a));
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        w.nodes[i].grants = with(w.nodes[i].grants, a);
        if (how_.grants_resent && which == 0)
            w.nodes[i].copies = with(w.nodes[i].copies, a);
    }
}

// The client reads no more answers. Requests stay under way.
void protocol::end(world& w, attempt a) const
{
    const std::size_t which = client_of(a);
    client& c = w.who[which];
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        node& n = w.nodes[i];
        n.talks[which] = {};
        const bool live = how_.raise_unconditional || how_.raise_by_value ||
                          (n.held_by(a) && n.counter == last_of_block(rounds_.start(c.round, i)));
        if (!live)
            n.raises = without(n.raises, a);
    }
    c.now = phase::ended;
    c.round = 0;
    c.before = 0;
    c.superseded = false;
    forget_dead_raises(w, scope_.nodes);
}

unsigned protocol::feed(world& w, attempt a, input what, std::size_t from, number start) const
{
    client& c = w.who[client_of(a)];
    const round_book::outcome o = rounds_.apply(c.round, what, from, start);
    c.round = o.next;
    if (o.raises != 0)
        c.raise_to[index_of(a)] = o.raise_to;
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        if (has(o.raises, i))
            w.nodes[i].raises = with(w.nodes[i].raises, a);
    }
    const bool enough =
        rounds_.acquired(c.round) || (how_.published_early && rounds_.token(c.round) != 0);
    if (c.now == phase::asking && enough)
        return publish(w, a);
    return judge_leases(w, clients);
}

unsigned protocol::execute_grant(world& w, attempt a, std::size_t at, bool replace) const
{
    node& n = w.nodes[at];
    client& c = w.who[client_of(a)];
    talk& t = n.talks[client_of(a)];
    if (how_.grants_resent && has(n.copies, a))
        n.copies = without(n.copies, a);
    else
        n.grants = without(n.grants, a);
    const bool floored = has(c.floored, index_of(a));
    const number start = grant(n, a, floored ? scope_.floor : number{0}, how_);
    if (!w.is_present(a) || rounds_.start(c.round, at) != 0)
        return none;
    if (start != 0 && (t.unread == 0 || replace))
        t = {.unread = start, .gone = false};
    if (start != 0 || t.unread != 0)
        return none;
    const number token = rounds_.token(c.round);
    if (how_.refusals_count && token != 0 && n.counter >= last_of_block(token))
        return feed(w, a, input::granted, at, token);
    return feed(w, a, input::refused, at, 0);
}

unsigned protocol::execute_raise(world& w, attempt a, std::size_t at) const
{
    node& n = w.nodes[at];
    client& c = w.who[client_of(a)];
    const bool present = w.is_present(a);
    n.raises = without(n.raises, a);
    const number from = present ? last_of_block(rounds_.start(c.round, at)) : n.counter;
    const bool ok = write_back(n, a, from, c.raise_to[index_of(a)], how_);
    if (!present) {
        forget_dead_raises(w, at);
        return none;
    }
    return feed(w, a, ok ? input::raise_ok : input::raise_lost, at, 0);
}

// The attempt has completed: its token is used, the lease is transferred within the process, and
// the next token is used.
unsigned protocol::publish(world& w, attempt a) const
{
    const std::size_t which = client_of(a);
    client& c = w.who[which];
    const number token = rounds_.token(c.round);
    unsigned violated = none;
    for (attempt b = 0; b < all_attempts; ++b) {
        const client& d = w.who[client_of(b)];
        if (!has(d.published, index_of(b)))
            continue;
        const number theirs = d.tokens[index_of(b)];
        if (theirs <= last_of_block(token) && token <= last_of_block(theirs))
            violated |= duplicate;
        const bool earlier = client_of(b) == which || has(c.before, index_of(b));
        if (!earlier)
            continue;
        if (last_of_block(theirs) >= token)
            violated |= order;
        fenced_register store;
        store.write(token);
        if (store.write(last_of_block(theirs)))
            violated |= stale;
    }
    c.now = phase::held;
    c.published = with(c.published, c.index);
    c.tokens[c.index] = token;
    return violated | judge_leases(w, which);
}

unsigned protocol::judge_leases(world& w, std::size_t granted) const
{
    const std::array<bool, clients> good{valid(w, 0), valid(w, 1)};
    unsigned violated = good[0] && good[1] ? overlap : none;
    for (std::size_t c = 0; c < clients; ++c) {
        if (good[c] && w.who[c].superseded)
            violated |= overlap;
    }
    if (granted < clients && good[granted] && w.who[other(granted)].now == phase::held)
        w.who[other(granted)].superseded = true;
    return violated;
}

// Compares a write under `a` with the write of the other client, if that began its attempt after
// `a` had completed.
unsigned protocol::judge_use(const world& w, attempt a, std::size_t at) const
{
    const client& newer = w.who[other(client_of(a))];
    if (newer.now != phase::held || !has(newer.before, index_of(a)))
        return none;
    fenced_register store;
    store.write(newer.tokens[newer.index]);
    return store.write(w.nodes[at].counter) ? stale : none;
}

// As the client sees it, by its own correct clock.
bool protocol::valid(const world& w, std::size_t which) const noexcept
{
    const client& c = w.who[which];
    if (c.now != phase::held)
        return false;
    std::size_t count = 0;
    for (std::size_t i = 0; i < scope_.nodes; ++i)
        count += rounds_.counts(c.round, i) && !w.nodes[i].talks[which].gone ? 1u : 0u;
    return count >= redis::majority(scope_.nodes);
}

// A WRITE-BACK of an ended attempt has an effect only while the node is unchanged since its grant,
// and a node never changes back. Without such messages there are fewer states.
void protocol::forget_dead_raises(world& w, std::size_t changed) const noexcept
{
    std::uint8_t live = 0;
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        node& n = w.nodes[i];
        for (attempt a = 0; a < all_attempts; ++a) {
            if (i == changed && !how_.raise_unconditional && !how_.raise_by_value &&
                !w.is_present(a))
                n.raises = without(n.raises, a);
        }
        live = static_cast<std::uint8_t>(live | n.raises);
    }
    for (attempt a = 0; a < all_attempts; ++a) {
        if (!has(live, a) && !w.is_present(a))
            w.who[client_of(a)].raise_to[index_of(a)] = 0;
    }
}

bool protocol::over(const world& w) const noexcept
{
    bool both_held = true;
    for (std::size_t i = 0; i < clients; ++i) {
        const client& c = w.who[i];
        if (scope_.attempts[i] != 0 &&
            (c.now == phase::idle || c.now == phase::asking || c.index + 1u < scope_.attempts[i]))
            return false;
        both_held = both_held && c.now == phase::held;
    }
    return !both_held;
}

} // namespace holdfast::model
