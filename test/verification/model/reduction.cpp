// If only tokens are judged, many states are equivalent. Of each class one state is explored, which
// permits all that the others permit. For the correct protocol:
//
// - Steps without an effect on a node are left out: a request that would be refused, or a
//   WRITE-BACK that would find the key lost, stays under way. A client that reads such an answer
//   can only give up, and it may do so at any time.
// - A client reads a grant when the node grants, or else when the token is known: this decides only
//   which grants make the first majority.
// - A lease ends when it has completed. Its WRITE-BACKs have the effect of EXTEND, which remains.
// - An attempt that cannot succeed any more ends.
// - A key vanishes at once if no WRITE-BACK and no EXTEND will find it: it could only keep other
//   attempts out, and these may be late in any case.
// - A request of an ended attempt loses its name if its key would vanish at once: `copies` counts
//   such requests. The field is free, because nothing is sent twice here.
#include "redis/quorum/majority.hpp"
#include "verification/model/protocol.hpp"

#include <utility>

namespace holdfast::model {

using kind = step_kind;

void protocol::fewer_steps(const world& w, std::vector<step>& found) const
{
    for (std::size_t c = 0; c < clients; ++c)
        client_steps(w, c, found);
    for (std::uint8_t i = 0; i < scope_.nodes; ++i) {
        const node& n = w.nodes[i];
        for (attempt a = 0; a < all_attempts; ++a) {
            const client& c = w.who[client_of(a)];
            if (n.lock == 0 && (n.grants & bit_of(a)) != 0) {
                found.push_back({.kind = kind::grant, .who = a, .node = i});
                if (w.is_present(a) && rounds_.token(c.round) == 0)
                    found.push_back({.kind = kind::grant, .who = a, .node = i, .flag = true});
            }
            if ((n.raises & bit_of(a)) != 0)
                found.push_back({.kind = kind::write_back, .who = a, .node = i});
            if (n.held_by(a) && (c.published & bit_of(index_of(a))) != 0)
                found.push_back({.kind = kind::extend, .who = a, .node = i});
        }
        if (n.lock == 0 && n.copies != 0)
            found.push_back({.kind = kind::stray, .node = i});
        if (n.lock != 0)
            found.push_back(
                {.kind = kind::expire, .who = static_cast<attempt>(n.lock - 1), .node = i});
    }
}

// Reads the unread answers, and ends attempts that are over.
unsigned protocol::settle(world& w, std::size_t which) const
{
    client& c = w.who[which];
    unsigned violated = none;
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        talk& t = w.nodes[i].talks[which];
        if (c.now == phase::asking && rounds_.token(c.round) != 0 && t.unread != 0)
            violated |= feed(w, attempt_of(which, c.index), round_book::input::granted, i,
                std::exchange(t.unread, number{0}));
    }
    if (!c.active())
        return violated;
    const attempt a = attempt_of(which, c.index);
    const number token = rounds_.token(c.round);
    std::size_t possible = 0;
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        node& n = w.nodes[i];
        const bool unchanged = n.held_by(a) && n.counter + 1u == rounds_.start(c.round, i) + block;
        if (!unchanged || c.now == phase::held)
            n.raises = static_cast<std::uint8_t>(n.raises & ~bit_of(a));
        const bool granted =
            token == 0 ? rounds_.start(c.round, i) != 0 : rounds_.counts(c.round, i);
        if (granted || n.talks[which].unread != 0 || ((n.grants | n.raises) & bit_of(a)) != 0)
            ++possible;
        if (n.held_by(a) && c.now == phase::asking && token != 0 && (n.raises & bit_of(a)) == 0)
            n.lock = 0;
    }
    if (c.now == phase::held || possible < redis::majority(scope_.nodes))
        end(w, a);
    return violated;
}

unsigned protocol::reduce(world& w) const
{
    const unsigned violated = settle(w, 0) | settle(w, 1);
    for (std::size_t i = 0; i < scope_.nodes; ++i) {
        node& n = w.nodes[i];
        for (attempt a = 0; a < all_attempts; ++a) {
            const client& c = w.who[client_of(a)];
            if (c.now == phase::idle || w.is_present(a) || index_of(a) > c.index)
                continue;
            const std::uint8_t mine = bit_of(a), of_client = bit_of(index_of(a));
            const bool published = (c.published & of_client) != 0;
            const unsigned end = c.tokens[index_of(a)] + block - 1;
            const bool extended = published && n.counter < end;
            if (n.held_by(a) && (n.raises & mine) == 0 && !extended)
                n.lock = 0;
            const bool nameless = (!published || n.counter + block >= end) &&
                                  ((c.floored & of_client) == 0 || n.counter + 1u >= scope_.floor);
            if ((n.grants & mine) != 0 && nameless) {
                n.grants = static_cast<std::uint8_t>(n.grants & ~mine);
                ++n.copies;
            }
        }
    }
    return violated;
}

} // namespace holdfast::model
