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
    window_due = taken_away = false;
    look = {};
}

void claim::granted(std::size_t node, core::time_point asked)
{
    keys[node].again = false;
    if (stage == claim_stage::held && keys[node].lost)
        return keys.repaired(node); // see set_again()
    if (round.has_key(node) && round.counts(node))
        return; // only the first grant counts: another client may have had the key since
    round.record_key(node);
    if (round.counts(node))
        keys.granted(node, end_of(asked));
    else
        keys.stays_until(node, end_of(asked));
}

void claim::not_granted(std::size_t node, vote v, errc why) noexcept
{
    keys[node].again = false;
    keys[node].trouble = static_cast<std::uint8_t>(why);
    round.record(node, v);
    if (v != vote::unknown)
        keys[node].state = key::absent;
}

void claim::not_confirmed(std::size_t node, errc why) noexcept
{
    keys[node].again = false;
    keys[node].trouble = static_cast<std::uint8_t>(why);
    round.record(node, vote::failed);
}

// In plain mode it proves the grant, too, whose own answer was lost. It does not prove a token.
void claim::renewed(std::size_t node, core::time_point asked, core::time_point now) noexcept
{
    note_end(now);
    claim_node& n = keys[node];
    const bool fenced = round.is_fenced();
    // A key that should have run out may have been set by an old request, which was late. In
    // between, the node may have forgotten it, and other clients may have had it.
    if (fenced && n.state == key::ours && now >= n.until) {
        missing(node, now);
        n.state = key::repaired;
    }
    if (n.state == key::repaired || n.lost || (fenced && !round.has_key(node)))
        set_again(node, asked, now);
    else
        keys.renewed(node, end_of(asked), !fenced);
}

void claim::set_again(std::size_t node, core::time_point asked, core::time_point now) noexcept
{
    keys.repaired(node);
    if (taken_away || !keys.may_count_again(node, asked, now))
        return;
    keys[node].lost = false;
    if (round.is_fenced()) {
        keys[node].state = key::asked;
        keys.stays_until(node, end_of(asked));
        round.lose_key(node); // ballots that it has accepted before do not count
        round.record_key(node);
    } else {
        keys.granted(node, end_of(asked));
    }
}

void claim::note_end(core::time_point now) noexcept
{
    if (!queue.ticket)
        return;
    queue.ticket->keys_end = std::max(queue.ticket->keys_end, now + params.ttl);
    if (queue.ticket->baton)
        queue.ticket->baton->renewed = true;
}

core::time_point claim::end_of(core::time_point asked) const noexcept
{
    return asked + params.ttl - params.drift;
}

// A node that holds our key without counting is `asked`: it may hold our key.
void claim::weigh() noexcept
{
    for (std::size_t i = 0; i < keys.size(); ++i) {
        claim_node& n = keys[i];
        if (n.state == key::ours && !round.counts(i))
            n.state = key::asked;
        else if (n.state == key::asked && round.has_key(i) && round.counts(i))
            keys.granted(i, n.until);
    }
}

// Source: the end of the key is known at the queue node, and the place was known to nobody before
// `entered`. So the script has read the ttl later than that.
void claim::take_over(std::size_t node, const baton& given, core::time_point now)
{
    constexpr std::chrono::milliseconds rounding{2}; // of two times in ms
    queue.ticket->baton = custody_of(given, token, node);
    queue.ticket->keys_end = now + given.left; // of the queue node's key, until that is renewed
    token = given.token;
    const core::duration lasts =
        std::min<core::duration>(given.left - given.lag - rounding, params.ttl);
    const core::time_point asked = queue.ticket->entered + lasts - params.ttl;
    round.take_over(keys.size(), given.fence);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        keys.sent(i, asked + params.ttl);
        keys.answered(i);
        keys.granted(i, end_of(asked));
    }
    keys[node].queued = queue.everywhere; // a second request for a place may have crossed it
    keys.stays(now + std::max<core::duration>(given.left, params.ttl));
}

void claim::relinquish() noexcept
{
    for (std::size_t i = 0; i < keys.size(); ++i)
        keys[i].state = key::absent;
    queue.ticket->gives = queue_ticket::passing::done;
}

void claim::missing(std::size_t node, core::time_point asked) noexcept
{
    keys.missing(node, asked);
    round.lose_key(node);
}

} // namespace holdfast::redis
