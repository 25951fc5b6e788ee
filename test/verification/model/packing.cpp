#include "verification/model/packing.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::model {

namespace {

// Packs fields side by side; the unpacker takes them in the same order.
class packer {
public:
    void put(unsigned value, unsigned bits) noexcept
    {
        all_ |= std::uint64_t{value} << at_;
        at_ += bits;
    }
    std::uint64_t all() const noexcept { return all_; }

private:
    std::uint64_t all_ = 0;
    unsigned at_ = 0;
};

class unpacker {
public:
    explicit unpacker(std::uint64_t all) noexcept : all_(all) {}

    template <class Field>
    void take(Field& field, unsigned bits) noexcept
    {
        field = static_cast<Field>(all_ & ((std::uint64_t{1} << bits) - 1));
        all_ >>= bits;
    }

private:
    std::uint64_t all_;
};

std::uint32_t pack(const node& n) noexcept
{
    packer p;
    p.put(n.lock, 3);
    p.put(n.counter, 5);
    p.put(n.grants, 4);
    p.put(n.raises, 4);
    p.put(n.copies, 4);
    for (const talk& t : n.talks) {
        p.put(t.unread, 5);
        p.put(t.gone, 1);
    }
    return static_cast<std::uint32_t>(p.all());
}

node unpack_node(std::uint32_t bits) noexcept
{
    node n;
    unpacker u(bits);
    u.take(n.lock, 3);
    u.take(n.counter, 5);
    u.take(n.grants, 4);
    u.take(n.raises, 4);
    u.take(n.copies, 4);
    for (talk& t : n.talks) {
        u.take(t.unread, 5);
        u.take(t.gone, 1);
    }
    return n;
}

std::uint64_t pack(const client& c) noexcept
{
    packer p;
    p.put(static_cast<unsigned>(c.now), 2);
    p.put(c.index, 1);
    p.put(c.round, 16);
    p.put(c.before, 2);
    p.put(c.superseded, 1);
    p.put(c.published, 2);
    p.put(c.floored, 2);
    for (const number t : c.tokens)
        p.put(t, 5);
    for (const number t : c.raise_to)
        p.put(t, 5);
    return p.all(); // 46 bits
}

client unpack_client(std::uint64_t bits) noexcept
{
    client c;
    unpacker u(bits);
    u.take(c.now, 2);
    u.take(c.index, 1);
    u.take(c.round, 16);
    u.take(c.before, 2);
    u.take(c.superseded, 1);
    u.take(c.published, 2);
    u.take(c.floored, 2);
    for (number& t : c.tokens)
        u.take(t, 5);
    for (number& t : c.raise_to)
        u.take(t, 5);
    return c;
}

void pack_clients(const world& w, packed& p, std::size_t nodes) noexcept
{
    const std::uint64_t forgot = std::uint64_t{w.forgot} << 47;
    const std::uint64_t first = pack(w.who[0]) | forgot, second = pack(w.who[1]);
    p[nodes] = static_cast<std::uint32_t>(first);
    p[nodes + 1] = static_cast<std::uint32_t>(second);
    p[nodes + 2] = static_cast<std::uint32_t>(first >> 32 | second >> 32 << 16);
}

std::uint8_t swapped_bits(std::uint8_t attempts) noexcept
{
    return static_cast<std::uint8_t>((attempts << 2 | attempts >> 2) & 15);
}

world swapped(const world& w, std::size_t nodes) noexcept
{
    world other = w;
    std::swap(other.who[0], other.who[1]);
    for (std::size_t i = 0; i < nodes; ++i) {
        node& n = other.nodes[i];
        if (n.lock != 0)
            n.lock = static_cast<std::uint8_t>((n.lock - 1) % 4 < 2 ? n.lock + 2 : n.lock - 2);
        n.grants = swapped_bits(n.grants);
        n.raises = swapped_bits(n.raises);
        std::swap(n.talks[0], n.talks[1]);
    }
    return other;
}

// Sorts the nodes by their whole state. Nodes with the same state may change places.
packed sorted(const world& w, std::size_t nodes, round_book& rounds)
{
    std::array<std::uint64_t, most_nodes> keys{};
    node_order order{0, 1, 2, 3};
    for (std::size_t i = 0; i < nodes; ++i) {
        keys[i] = pack(w.nodes[i]) | std::uint64_t{rounds.view(w.who[0].round, i)} << 32 |
                  std::uint64_t{rounds.view(w.who[1].round, i)} << 40;
    }
    for (std::size_t i = 1; i < nodes; ++i) {
        for (std::size_t j = i; j > 0 && keys[j] < keys[j - 1]; --j) {
            std::swap(keys[j], keys[j - 1]);
            std::swap(order[j], order[j - 1]);
        }
    }
    packed p{};
    for (std::size_t i = 0; i < nodes; ++i)
        p[i] = static_cast<std::uint32_t>(keys[i]);
    world clients_only;
    clients_only.who = w.who;
    clients_only.forgot = w.forgot;
    for (client& c : clients_only.who)
        c.round = rounds.reordered(c.round, order);
    pack_clients(clients_only, p, nodes);
    return p;
}

} // namespace

world unpack(const packed& p, std::size_t nodes) noexcept
{
    world w;
    for (std::size_t i = 0; i < nodes; ++i)
        w.nodes[i] = unpack_node(p[i]);
    const std::uint64_t high = p[nodes + 2];
    w.who[0] = unpack_client(p[nodes] | (high & 0x7fff) << 32);
    w.who[1] = unpack_client(p[nodes + 1] | high >> 16 << 32);
    w.forgot = (high & 0x8000) != 0;
    return w;
}

packed canonical(const world& w, std::size_t nodes, bool swap_clients, round_book& rounds)
{
    const packed one = sorted(w, nodes, rounds);
    return swap_clients ? std::min(one, sorted(swapped(w, nodes), nodes, rounds)) : one;
}

} // namespace holdfast::model
