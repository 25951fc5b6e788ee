#include "verification/model/packing.hpp"

#include "verification/model/packer.hpp"

#include <utility>

namespace holdfast::model {

namespace {

// Two words for the node, and two for each connection. `views`: what the rounds know of the node.
void put(const node& n, std::size_t attempts, const std::uint8_t* views, words& to) noexcept
{
    packer p;
    p.put(n.lock, 3);
    p.put(n.until, 4);
    p.put(n.register_, 4);
    p.put(n.empty, 1);
    to[0] = p.low();
    std::size_t at = 1;
    for (std::size_t a = 0; a < attempts; ++a) {
        const link& l = n.links[a];
        packer q;
        q.put(l.requests.all, 15);
        q.put(l.replies.all, 20);
        q.put(l.gone, 1);
        q.put(l.repaired, 1);
        q.put(l.stray, 1);
        q.put(l.stamped, 1);
        q.put(l.until, 4);
        q.put(views[a], 7);
        to[at++] = q.low();
        to[at++] = q.high();
    }
}

node node_in(const std::uint32_t* from, std::size_t attempts) noexcept
{
    node n;
    unpacker u(from[0], 0);
    u.take(n.lock, 3);
    u.take(n.until, 4);
    u.take(n.register_, 4);
    u.take(n.empty, 1);
    for (std::size_t a = 0; a < attempts; ++a) {
        link& l = n.links[a];
        unpacker v(from[1 + 2 * a], from[2 + 2 * a]);
        v.take(l.requests.all, 15);
        v.take(l.replies.all, 20);
        v.take(l.gone, 1);
        v.take(l.repaired, 1);
        v.take(l.stray, 1);
        v.take(l.stamped, 1);
        v.take(l.until, 4);
    }
    return n;
}

void put(const client& c, words& to) noexcept
{
    packer p;
    p.put(static_cast<unsigned>(c.now), 2);
    p.put(c.round, 24);
    for (const small k : c.ballots)
        p.put(k, 4);
    p.put(c.least, 4);
    p.put(c.begun, 4);
    p.put(c.ballot, 4); // 54 bits
    to[0] = p.low();
    to[1] = p.high();
}

client client_in(const std::uint32_t* from) noexcept
{
    client c;
    unpacker u(from[0], from[1]);
    u.take(c.now, 2);
    u.take(c.round, 24);
    for (small& k : c.ballots)
        u.take(k, 4);
    u.take(c.least, 4);
    u.take(c.begun, 4);
    u.take(c.ballot, 4);
    return c;
}

} // namespace

packing::packing(std::size_t nodes, std::size_t attempts, round_book& rounds)
    : nodes_(nodes),
      attempts_(attempts),
      rounds_(rounds),
      columns_(1 + 2 * attempts),
      clients_(2)
{}

// Attempts are ordered by what does not depend on the names of nodes: first those that have ended,
// last those that have not begun.
std::uint64_t packing::rank(const client& c) const noexcept
{
    const redis::ballot_round& r = rounds_.at(c.round);
    packer p;
    p.put(c.least, 4);
    p.put(c.begun, 4);
    p.put(c.ballot, 4);
    for (const small k : c.ballots)
        p.put(k, 4);
    p.put(r.votes().count(redis::vote::granted), 3);
    p.put(r.votes().count(redis::vote::refused), 3);
    p.put(r.number(), 2);
    p.put(r.ballot(), 4);
    constexpr std::array<unsigned, 4> places{3, 1, 2, 0}; // by phase
    p.put(places[static_cast<std::size_t>(c.now)], 2);
    return std::uint64_t{p.high()} << 32 | p.low();
}

world packing::ordered(const world& w, naming& names) const noexcept
{
    std::array<std::uint64_t, most_attempts> ranks{};
    std::array<std::uint8_t, most_attempts> order{0, 1, 2, 3};
    bool moved = false;
    for (std::size_t a = 0; a < attempts_; ++a)
        ranks[a] = rank(w.who[a]);
    for (std::size_t a = 1; a < attempts_; ++a) {
        for (std::size_t b = a; b > 0 && ranks[order[b]] < ranks[order[b - 1]]; --b) {
            std::swap(order[b], order[b - 1]);
            moved = true;
        }
    }
    if (!moved)
        return w;
    world other = w;
    const naming before = names;
    std::array<std::uint8_t, most_attempts + 1> locks{};
    for (std::size_t a = 0; a < attempts_; ++a) {
        other.who[a] = w.who[order[a]];
        names.attempts[a] = before.attempts[order[a]];
        locks[order[a] + 1u] = static_cast<std::uint8_t>(a + 1);
    }
    for (std::size_t i = 0; i < nodes_; ++i) {
        other.nodes[i].lock = locks[w.nodes[i].lock];
        for (std::size_t a = 0; a < attempts_; ++a)
            other.nodes[i].links[a] = w.nodes[i].links[order[a]];
    }
    return other;
}

words packing::canonical(const world& given, naming& names)
{
    const world w = ordered(given, names);
    // Nodes with the same number may change places.
    std::array<std::uint32_t, most_nodes> numbers{};
    node_order order{0, 1, 2, 3, 4};
    words one{};
    for (std::size_t i = 0; i < nodes_; ++i) {
        std::array<std::uint8_t, most_attempts> views{};
        for (std::size_t a = 0; a < attempts_; ++a)
            views[a] = rounds_.view(w.who[a].round, i);
        put(w.nodes[i], attempts_, views.data(), one);
        numbers[i] = columns_.add(one).number;
    }
    for (std::size_t i = 1; i < nodes_; ++i) {
        for (std::size_t j = i; j > 0 && numbers[order[j]] < numbers[order[j - 1]]; --j)
            std::swap(order[j], order[j - 1]);
    }
    words all{};
    const naming before = names;
    for (std::size_t i = 0; i < nodes_; ++i) {
        all[i] = numbers[order[i]];
        names.nodes[i] = before.nodes[order[i]];
    }
    for (std::size_t a = 0; a < attempts_; ++a) {
        client c = w.who[a];
        c.round = rounds_.reordered(c.round, order);
        put(c, one);
        all[nodes_ + a] = clients_.add(one).number;
    }
    packer p;
    p.put(w.published, 16);
    p.put(w.time, 3);
    p.put(w.losses, 2);
    p.put(w.cuts, 1);
    p.put(w.further, 2);
    p.put(w.asks, 2);
    p.put(w.store, 3);
    p.put(w.older, 3);
    all[nodes_ + attempts_] = p.low();
    return all;
}

world packing::unpack(const std::uint32_t* from) const
{
    world w;
    for (std::size_t i = 0; i < nodes_; ++i)
        w.nodes[i] = node_in(columns_.at(from[i]), attempts_);
    for (std::size_t a = 0; a < attempts_; ++a)
        w.who[a] = client_in(clients_.at(from[nodes_ + a]));
    unpacker u(from[nodes_ + attempts_], 0);
    u.take(w.published, 16);
    u.take(w.time, 3);
    u.take(w.losses, 2);
    u.take(w.cuts, 1);
    u.take(w.further, 2);
    u.take(w.asks, 2);
    u.take(w.store, 3);
    u.take(w.older, 3);
    return w;
}

} // namespace holdfast::model
