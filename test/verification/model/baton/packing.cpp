#include "verification/model/baton/packing.hpp"

#include "verification/model/packer.hpp"

#include <utility>

namespace holdfast::model::baton {

namespace {

words packed(const client& c) noexcept
{
    packer p, q;
    p.put(static_cast<unsigned>(c.now), 4);
    p.put(c.token, 2);
    p.put(c.entered, 3);
    p.put(c.begun, 3);
    for (const small each : c.until)
        p.put(each, 4);
    p.put(c.keys_end, 4);
    p.put(c.lag, 3);
    p.put(c.renewed, 1);
    for (const renewal& each : c.renewals) {
        p.put(static_cast<unsigned>(each.is), 2);
        p.put(each.asked, 3);
        p.put(each.confirms, 1);
    }
    p.put(c.sets, 3);
    p.put(c.deletions, 3);
    p.put(c.late_renewals, 3);
    p.put(c.strayed, 1); // 60 bits
    q.put(c.queued, 1);
    q.put(c.push.token, 2);
    q.put(c.push.left, 3);
    q.put(c.push.lag, 3);
    q.put(c.unwanted.token, 2);
    q.put(c.unwanted.lag, 3);
    q.put(c.discards, 3);
    q.put(static_cast<unsigned>(c.give), 3);
    q.put(c.given_lag, 3);
    q.put(static_cast<unsigned>(c.place.is), 3);
    q.put(c.place.again, 1);
    q.put(c.place.asked, 3);
    q.put(c.place.given.token, 2);
    q.put(c.place.given.left, 3);
    q.put(c.place.given.lag, 3);
    q.put(c.late_place, 1);
    q.put(c.late_again, 1); // 40 bits
    words to{};
    to[0] = p.low();
    to[1] = p.high();
    to[2] = q.low();
    to[3] = q.high();
    return to;
}

client client_in(const std::uint32_t* from) noexcept
{
    client c;
    unpacker u(from[0], from[1]), v(from[2], from[3]);
    u.take(c.now, 4);
    u.take(c.token, 2);
    u.take(c.entered, 3);
    u.take(c.begun, 3);
    for (small& each : c.until)
        u.take(each, 4);
    u.take(c.keys_end, 4);
    u.take(c.lag, 3);
    u.take(c.renewed, 1);
    for (renewal& each : c.renewals) {
        u.take(each.is, 2);
        u.take(each.asked, 3);
        u.take(each.confirms, 1);
    }
    u.take(c.sets, 3);
    u.take(c.deletions, 3);
    u.take(c.late_renewals, 3);
    u.take(c.strayed, 1);
    v.take(c.queued, 1);
    v.take(c.push.token, 2);
    v.take(c.push.left, 3);
    v.take(c.push.lag, 3);
    v.take(c.unwanted.token, 2);
    v.take(c.unwanted.lag, 3);
    v.take(c.discards, 3);
    v.take(c.give, 3);
    v.take(c.given_lag, 3);
    v.take(c.place.is, 3);
    v.take(c.place.again, 1);
    v.take(c.place.asked, 3);
    v.take(c.place.given.token, 2);
    v.take(c.place.given.left, 3);
    v.take(c.place.given.lag, 3);
    v.take(c.late_place, 1);
    v.take(c.late_again, 1);
    return c;
}

// The last two nodes in each other's place.
world swapped(const world& w) noexcept
{
    const auto exchanged = [](std::uint8_t bits) {
        return static_cast<std::uint8_t>((bits & 1) | (bits & 2) << 1 | (bits & 4) >> 1);
    };
    world other = w;
    std::swap(other.nodes[1], other.nodes[2]);
    for (client& c : other.who) {
        std::swap(c.until[1], c.until[2]);
        std::swap(c.renewals[1], c.renewals[2]);
        c.sets = exchanged(c.sets);
        c.deletions = exchanged(c.deletions);
        c.late_renewals = exchanged(c.late_renewals);
        c.discards = exchanged(c.discards);
    }
    return other;
}

} // namespace

words packing::pack(const world& w)
{
    words to{};
    for (std::size_t p = 0; p < process_count; ++p)
        to[p] = clients_.add(packed(w.who[p])).number;
    packer p;
    for (const node& n : w.nodes) {
        p.put(n.key.token, 2);
        p.put(n.until, 4);
        p.put(n.down, 1);
    }
    p.put(w.nodes[queue_node].key.place, 2);
    p.put(w.nodes[queue_node].key.lag, 3);
    p.put(w.queue.all, 8);
    p.put(w.time, 3);
    p.put(w.renewals, 2);
    p.put(w.crashes, 2);
    p.put(w.lost_answers, 2);
    p.put(w.lost_places, 2); // 45 bits
    to[process_count] = p.low();
    to[process_count + 1] = p.high();
    return to;
}

words packing::canonical(const world& w, naming& names)
{
    const words one = pack(w), other = pack(swapped(w));
    if (one <= other)
        return one;
    std::swap(names.nodes[1], names.nodes[2]);
    return other;
}

world packing::unpack(const std::uint32_t* from) const
{
    world w;
    for (std::size_t p = 0; p < process_count; ++p)
        w.who[p] = client_in(clients_.at(from[p]));
    unpacker u(from[process_count], from[process_count + 1]);
    for (node& n : w.nodes) {
        u.take(n.key.token, 2);
        u.take(n.until, 4);
        u.take(n.down, 1);
    }
    u.take(w.nodes[queue_node].key.place, 2);
    u.take(w.nodes[queue_node].key.lag, 3);
    u.take(w.queue.all, 8);
    u.take(w.time, 3);
    u.take(w.renewals, 2);
    u.take(w.crashes, 2);
    u.take(w.lost_answers, 2);
    u.take(w.lost_places, 2);
    return w;
}

} // namespace holdfast::model::baton
