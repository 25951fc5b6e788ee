#include "verification/model/round_book.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace holdfast::model {

using redis::ballot_answer;
using redis::ballot_round;
using redis::vote;
using input = round_book::input;

namespace {

static_assert(std::is_trivially_copyable_v<ballot_round>);
constexpr std::size_t round_words = (sizeof(ballot_round) + 3) / 4;
static_assert(round_words <= most_words);

// If bytes between the members differ, one round has several numbers. That only costs states.
words words_of(const ballot_round& r)
{
    words w{};
    std::memcpy(w.data(), &r, sizeof r);
    return w;
}

// Returns the nodes that are sent the current ballot.
std::uint8_t tell(ballot_round& r, input what, std::size_t nodes, std::size_t node, unsigned value)
{
    std::uint8_t sent = 0;
    const auto send = [&](std::size_t to) {
        r.send(to);
        sent |= bit_of(to);
    };
    switch (what) {
    case input::begin:
        r.propose(value);
        for (std::size_t i = 0; i < nodes; ++i) {
            r.ask_for_key(i);
            send(i);
        }
        break;
    case input::propose:
        r.propose(value);
        break;
    case input::publish:
        r.publish();
        break;
    case input::granted:
        r.record_key(node);
        break;
    case input::refused:
        r.record(node, vote::refused);
        break;
    case input::lost:
        r.lose_key(node);
        break;
    case input::ask:
        r.ask_for_key(node);
        if (!r.was_sent(node))
            send(node);
        break;
    case input::accepted:
        r.record_answer(node, static_cast<std::uint16_t>(value), ballot_answer::accepted);
        break;
    case input::rejected:
        r.record_answer(node, static_cast<std::uint16_t>(value), ballot_answer::refused);
        break;
    }
    while (const auto next = r.next())
        send(*next);
    return sent;
}

} // namespace

round_book::round_book(std::size_t nodes)
    : nodes_(nodes),
      rounds_{entry{.what = ballot_round(nodes)}},
      numbers_(round_words)
{
    numbers_.add(words_of(rounds_.front().what));
}

round_book::outcome round_book::apply(id round, input what, std::size_t node, unsigned value)
{
    const std::uint64_t key =
        std::uint64_t{round} << 16 | static_cast<std::uint64_t>(what) << 12 | node << 8 | value;
    if (const auto at = known_.find(key); at != known_.end())
        return at->second;
    entry e{.what = rounds_[round].what,
        .parent = round,
        .by = what,
        .node = static_cast<std::uint8_t>(node),
        .value = static_cast<std::uint8_t>(value)};
    outcome found;
    found.sent = tell(e.what, what, nodes_, node, value);
    const word_set::place at = numbers_.add(words_of(e.what));
    if (at.is_new)
        rounds_.push_back(e);
    found.next = at.number;
    known_.emplace(key, found);
    return found;
}

// Applies the same inputs to a fresh round, with the nodes in another order.
round_book::id round_book::reordered(id round, const node_order& order)
{
    if (round == 0)
        return round;
    std::uint64_t key = round;
    bool moved = false;
    for (std::size_t i = 0; i < nodes_; ++i) {
        key = key << 3 | order[i];
        moved = moved || order[i] != i;
    }
    if (!moved)
        return round;
    if (const auto at = reordered_.find(key); at != reordered_.end())
        return at->second;
    const entry e = rounds_[round];
    const auto node =
        static_cast<std::size_t>(std::find(order.begin(), order.end(), e.node) - order.begin());
    const id found = apply(reordered(e.parent, order), e.by, node, e.value).next;
    reordered_.emplace(key, found);
    return found;
}

std::uint8_t round_book::view(id round, std::size_t node) const noexcept
{
    const ballot_round& r = at(round);
    return static_cast<std::uint8_t>(static_cast<unsigned>(r.of(node)) |
                                     (r.has_key(node) ? 8u : 0u) | (r.is_behind(node) ? 16u : 0u) |
                                     (r.was_sent(node) ? 32u : 0u) |
                                     (r.could_be_spare(node) ? 64u : 0u));
}

} // namespace holdfast::model
