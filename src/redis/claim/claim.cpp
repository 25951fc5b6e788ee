#include "redis/claim/claim.hpp"

#include "redis/quorum/rendezvous.hpp"

namespace holdfast::redis {

using key = claim_node::key;

void claim::begin(std::uint64_t new_tag, std::string_view name, const core::owner_token& owner,
    const core::claim_params& new_params, std::size_t nodes)
{
    lock.assign(name);
    hash = hash_of(name);
    token = owner;
    params = new_params;
    tag = new_tag;
    keys.begin(nodes);
    round.begin(nodes);
    queue.begin();
    asked_again_at = core::never;
    reported = core::long_ago;
    stage = claim_stage::asking;
    late.reset();
    ends_turns = false;
    look = {};
}

void claim::granted(std::size_t node, core::time_point asked, std::uint64_t start)
{
    using grant = claim_round::grant;
    keys[node].again = false;
    switch (round.record_grant(node, start)) {
    case grant::counts:
        keys.granted(node, end_of(asked));
        if (round.is_fenced())
            weigh();
        return;
    case grant::void_:
        return keys.repaired(node);
    case grant::repeated:
        if (keys[node].state != key::ours)
            keys.repaired(node);
        return;
    }
}

void claim::not_granted(std::size_t node, vote v, errc why) noexcept
{
    keys[node].again = false;
    keys[node].trouble = static_cast<std::uint8_t>(why);
    round.record(node, v);
    if (v != vote::unknown)
        keys[node].state = key::absent;
}

void claim::written_back(std::size_t node, write_back_answer answer) noexcept
{
    round.tokens().record_write_back(node, answer);
    claim_node& n = keys[node];
    if (n.state == key::asked && answer != write_back_answer::unknown)
        n.state = answer == write_back_answer::ok && !n.lost ? key::ours : key::repaired;
}

// In plain mode it proves the grant, too, whose own answer was lost. It does not prove a token.
void claim::renewed(std::size_t node, core::time_point asked) noexcept
{
    keys.renewed(node, end_of(asked), !round.is_fenced());
}

core::time_point claim::end_of(core::time_point asked) const noexcept
{
    return asked + params.ttl - params.drift;
}

// In fenced mode, some nodes that have granted do not count, or not yet: they may hold our key.
void claim::weigh() noexcept
{
    const token_round& tokens = round.tokens();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i].state == key::ours && tokens.of(i) != vote::granted)
            keys[i].state = tokens.of(i) == vote::refused ? key::repaired : key::asked;
    }
}

} // namespace holdfast::redis
