#include "redis/quorum/ballot_round.hpp"

#include <cassert>

namespace holdfast::redis {

ballot_round::ballot_round(std::size_t nodes, std::uint64_t ballot) noexcept
    : votes_(nodes),
      ballot_(ballot),
      size_(static_cast<std::uint8_t>(nodes)),
      number_(ballot == 0 ? 0 : 1)
{}

bool ballot_round::counts(const node_state& n) const noexcept
{
    const std::uint16_t least = published_ != 0 ? published_number_ : number_;
    return n.has_key && !n.excluded && n.state == ballot_state::accepted && n.number >= least;
}

// Whether it has to be sent the current ballot.
bool ballot_round::is_due(const node_state& n) const noexcept
{
    return n.has_key && !n.excluded && n.number < number_ && !counts(n);
}

void ballot_round::ask_for_key(std::size_t node) noexcept
{
    assert(node < size_);
    node_state& n = nodes_[node];
    if (n.state != ballot_state::none && !counts(n))
        n.state = ballot_state::refused; // whatever its answer will be
    judge(node);
}

void ballot_round::record_key(std::size_t node) noexcept
{
    assert(node < size_);
    nodes_[node].has_key = true;
    judge(node);
}

void ballot_round::record(std::size_t node, vote v) noexcept
{
    assert(node < size_ && v != vote::pending && v != vote::granted);
    node_state& n = nodes_[node];
    if (!n.has_key)
        return vote_is(node, v);
    if (v == vote::unknown && votes_.of(node) == vote::pending) {
        if (n.state == ballot_state::sent)
            n.state = ballot_state::silent; // else its answer is known, or does not matter
        vote_is(node, vote::unknown);
    }
}

void ballot_round::lose_key(std::size_t node) noexcept
{
    assert(node < size_);
    node_state& n = nodes_[node];
    if (published_ == 0 && counts(n))
        return;
    n.has_key = false;
    if (published_ != 0) {
        n.excluded = false;
        if (n.state != ballot_state::none)
            n.state = ballot_state::refused; // it has preceded the next request for the key
    }
    vote_is(node, vote::refused);
}

void ballot_round::exclude(std::size_t node) noexcept
{
    assert(node < size_);
    nodes_[node].excluded = true;
    if (votes_.of(node) == vote::pending || votes_.of(node) == vote::granted)
        vote_is(node, vote::failed);
}

void ballot_round::send(std::size_t node) noexcept
{
    assert(node < size_);
    node_state& n = nodes_[node];
    n.number = number_;
    n.state = ballot_state::sent;
    judge(node);
}

std::optional<std::size_t> ballot_round::next(std::size_t begin) const noexcept
{
    for (std::size_t i = begin; i < size_; ++i) {
        if (is_due(nodes_[i]))
            return i;
    }
    return std::nullopt;
}

// An answer to an earlier ballot, or to one that precedes a request for the key, proves nothing.
void ballot_round::record_answer(std::size_t node, std::uint16_t number, ballot_answer a) noexcept
{
    assert(node < size_);
    node_state& n = nodes_[node];
    const bool open = n.state == ballot_state::sent || n.state == ballot_state::silent;
    if (!open || n.number != number)
        return;
    switch (a) {
    case ballot_answer::accepted:
        n.state = ballot_state::accepted;
        break;
    case ballot_answer::refused:
        n.state = ballot_state::refused;
        break;
    case ballot_answer::unknown:
        n.state = ballot_state::silent;
        break;
    }
    judge(node);
}

bool ballot_round::needs_larger() const noexcept
{
    if (published_ != 0 || given_up_)
        return false;
    std::size_t behind = 0;
    for (std::size_t i = 0; i < size_; ++i) {
        const bool may_count = votes_.of(i) == vote::pending;
        behind += may_count && is_behind(i) && nodes_[i].number == number_ ? 1u : 0u;
    }
    const std::size_t possible = votes_.count(vote::granted) + votes_.count(vote::pending);
    const std::size_t wanted = majority(size_);
    return behind != 0 && possible >= wanted && possible - behind < wanted;
}

void ballot_round::propose(std::uint64_t ballot) noexcept
{
    assert(ballot > ballot_);
    ballot_ = ballot;
    ++number_;
    for (std::size_t i = 0; i < size_; ++i)
        judge(i);
}

void ballot_round::give_up() noexcept
{
    given_up_ = true;
    for (std::size_t i = 0; i < size_; ++i)
        judge(i);
}

void ballot_round::publish() noexcept
{
    published_ = ballot_;
    published_number_ = number_;
    for (std::size_t i = 0; i < size_; ++i) {
        node_state& n = nodes_[i];
        if (!n.excluded)
            continue;
        n.excluded = false;
        if (n.state != ballot_state::none)
            n.state = ballot_state::refused;
        judge(i);
    }
}

bool ballot_round::could_be_spare(std::size_t node) const noexcept
{
    const node_state& n = nodes_[node];
    return n.has_key && !n.excluded && !counts(n) && n.state != ballot_state::sent &&
           n.number == number_;
}

void ballot_round::take_over(std::uint64_t ballot) noexcept
{
    assert(number_ == 0);
    ballot_ = ballot;
    number_ = 1;
    publish();
    for (std::size_t i = 0; i < size_; ++i) {
        nodes_[i] = {.has_key = true, .state = ballot_state::accepted, .number = number_};
        judge(i);
    }
}

void ballot_round::begin_confirmation() noexcept
{
    votes_ = vote_round(size_);
    for (std::size_t i = 0; i < size_; ++i)
        nodes_[i].has_key = false;
}

bool ballot_round::all_keys_count() const noexcept
{
    for (std::size_t i = 0; i < size_; ++i) {
        if (nodes_[i].has_key && !counts(nodes_[i]))
            return false;
    }
    return true;
}

// The vote of a node that holds our key.
void ballot_round::judge(std::size_t node) noexcept
{
    const node_state& n = nodes_[node];
    if (!n.has_key)
        return;
    if (counts(n))
        vote_is(node, vote::granted);
    else if (n.excluded)
        vote_is(node, vote::failed);
    else if (is_due(n))
        vote_is(node, vote::pending);
    else if (n.state == ballot_state::silent)
        vote_is(node, vote::unknown);
    else if (n.state == ballot_state::refused && (given_up_ || published_ != 0))
        vote_is(node, vote::refused); // other clients have larger ballots
    else
        vote_is(node, vote::pending);
}

void ballot_round::vote_is(std::size_t node, vote v) noexcept
{
    if (votes_.of(node) != v)
        votes_.record(node, v);
}

} // namespace holdfast::redis
