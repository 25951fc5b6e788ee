#include "redis/queue/waiter_messages.hpp"

#include "redis/node/scripts.hpp"

#include <charconv>

namespace holdfast::redis {

using core::claim_id;

namespace {

constexpr std::size_t token_length = 32, entry_length = token_length + reference_length;

std::optional<claim_id> claim_of(std::string_view reference)
{
    claim_id id = 0;
    const auto [end, ec] =
        std::from_chars(reference.data(), reference.data() + reference.size(), id, 16);
    if (ec != std::errc() || end != reference.data() + reference.size())
        return std::nullopt;
    return id;
}

// The text of a message to waiters, or nothing.
std::string_view message_in(reply push)
{
    return push.size() == 4 && push[1].text == "message" ? push[3].text : std::string_view();
}

// The claim whose entry the message begins with.
std::optional<claim_id> addressee(const claim_table& claims, std::string_view message)
{
    if (message.size() < entry_length)
        return std::nullopt;
    const auto id = claim_of(message.substr(token_length, reference_length));
    const claim* const c = id ? claims.find(*id) : nullptr;
    if (c == nullptr || c->place().view() != message.substr(0, token_length))
        return std::nullopt;
    return id;
}

} // namespace

std::optional<claim_id> waiter_messages::turn_in_push(std::size_t node, reply push) const
{
    const std::string_view message = message_in(push);
    const auto id = addressee(claims_, message);
    if (!id || message.size() != entry_length || !claims_.find(*id)->keys[node].queued)
        return std::nullopt;
    return id;
}

std::optional<claim_id> waiter_messages::turn_in_answer(
    std::size_t node, const request& r, reply answer) const
{
    const resp::value& v = answer.front();
    const claim* const c = claims_.find(r.reference);
    if (v.kind != resp::value_kind::integer || v.integer != 0 || c == nullptr ||
        !c->keys[node].queued)
        return std::nullopt;
    const bool is_here = c->queue.node == node;
    const bool is_grant =
        is_here && c->stage == claim_stage::queued && r.kind == request_kind::enqueue;
    const bool is_known = is_here && c->queue.handed_over;
    return is_grant || is_known ? std::nullopt : std::optional(r.reference);
}

std::optional<waiter_messages::gift> waiter_messages::gift_in_push(
    std::size_t node, reply push) const
{
    const std::string_view message = message_in(push);
    const auto id = addressee(claims_, message);
    if (!id || message.size() == entry_length)
        return std::nullopt;
    return accept(node, *id, message.substr(entry_length));
}

std::optional<waiter_messages::gift> waiter_messages::gift_in_answer(
    std::size_t node, const request& r, reply answer) const
{
    if (answer.front().kind != resp::value_kind::blob_string ||
        claims_.find(r.reference) == nullptr)
        return std::nullopt;
    return accept(node, r.reference, answer.front().text);
}

// A lease that the claim has now, or has had, is not given to it again.
std::optional<waiter_messages::gift> waiter_messages::accept(
    std::size_t node, claim_id id, std::string_view text) const
{
    const auto given = read_baton(text);
    const claim* const c = claims_.find(id);
    if (!given || given->fence.has_value() != c->round.is_fenced() || !c->keys[node].queued ||
        c->queue.ticket->discarded.view() == given->token.view() ||
        c->token.view() == given->token.view())
        return std::nullopt;
    return gift{.claim = id, .given = *given};
}

} // namespace holdfast::redis
