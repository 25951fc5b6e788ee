#include "verification/model/round_book.hpp"

#include <limits>
#include <stdexcept>

namespace holdfast::model {

using redis::token_round;
using redis::vote;
using redis::write_back_answer;

namespace {

void tell(token_round& r, round_book::input what, std::size_t node, number start)
{
    switch (what) {
    case round_book::input::refused:
        r.record(node, vote::refused);
        break;
    case round_book::input::raise_ok:
        r.record_write_back(node, write_back_answer::ok);
        break;
    case round_book::input::raise_lost:
        r.record_write_back(node, write_back_answer::lost);
        break;
    case round_book::input::granted:
        r.record_grant(node, start);
        break;
    }
}

} // namespace

round_book::round_book(std::size_t nodes) : nodes_(nodes), rounds_(1)
{
    intern(token_round(nodes, block), 0, input::refused, 0, 0);
}

round_book::id round_book::intern(
    const token_round& what, id parent, input by, std::size_t node, number start)
{
    entry e;
    e.what = what;
    e.parent = parent;
    e.by = by;
    e.node = static_cast<std::uint8_t>(node);
    e.start = start;
    e.token = static_cast<number>(what.token());
    e.acquired = what.judge() == redis::verdict::acquired;
    std::uint64_t key = e.token;
    for (std::size_t i = 0; i < nodes_; ++i) {
        e.counting = static_cast<std::uint8_t>(e.counting | (what.counts(i) ? bit_of(i) : 0u));
        e.views[i] =
            static_cast<std::uint8_t>(what.start(i) | static_cast<std::uint64_t>(what.of(i)) << 5);
        key = key << 8 | e.views[i];
    }
    const auto [at, is_new] = ids_.try_emplace(key, static_cast<id>(rounds_.size()));
    if (is_new) {
        if (rounds_.size() > std::numeric_limits<id>::max())
            throw std::range_error("too many different rounds for this model");
        rounds_.push_back(e);
    }
    return at->second;
}

round_book::outcome round_book::apply(id round, input what, std::size_t node, number start)
{
    const std::size_t key = what == input::granted
                                ? 3 * most_nodes + node * (largest_token + 1) + start
                                : static_cast<std::size_t>(what) * most_nodes + node;
    if (rounds_[round].next[key].next != 0)
        return rounds_[round].next[key];
    token_round r = rounds_[round].what;
    tell(r, what, node, start);
    outcome found;
    while (const auto one = r.next_write_back()) {
        if (one->from != r.start(one->node) + block - 1)
            throw std::logic_error("a write_back does not name the counter of its grant");
        found.raises = static_cast<std::uint8_t>(found.raises | bit_of(one->node));
        found.raise_to = static_cast<number>(one->to);
    }
    found.next = intern(r, round, what, node, start);
    rounds_[round].next[key] = found;
    return found;
}

// Applies the same inputs to a fresh round, with the nodes in another order.
round_book::id round_book::reordered(id round, const node_order& order)
{
    if (round <= fresh)
        return round;
    std::size_t key = 0;
    for (std::size_t i = 0; i < nodes_; ++i)
        key |= std::size_t{order[i]} << (2 * i);
    if (rounds_[round].reordered[key] != 0)
        return rounds_[round].reordered[key];
    const id parent = reordered(rounds_[round].parent, order);
    std::size_t node = 0;
    while (order[node] != rounds_[round].node)
        ++node;
    const id found = apply(parent, rounds_[round].by, node, rounds_[round].start).next;
    rounds_[round].reordered[key] = found;
    return found;
}

} // namespace holdfast::model
