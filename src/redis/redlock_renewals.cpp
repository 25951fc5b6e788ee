// How redlock_core renews what it holds, and heals what nodes have lost of it.
#include "redis/redlock_core.hpp"
#include "redis/script_call.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::backend_event;
using core::claim_id;
using core::event_kind;
using core::time_point;
using key = claim_node::key;
using stage = claim::stage;

namespace {

// Renewals in one call. A node does nothing else while it runs a script.
constexpr std::size_t largest_batch = 100;

} // namespace

void redlock_core::renew(std::span<const claim_id> claims, bool again, time_point now)
{
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const node_session& node = *sessions_[i];
        if (node.now() != node_session::reachability::ready)
            continue;
        // Each claim has one renewal under way to a node: that is little, however much else is.
        const bool may_repair = !node.congested(now);
        to_renew_.clear();
        for (const claim_id id : claims) {
            claim& c = claims_[id];
            const claim_node& n = c.at[i];
            if (n.state != key::absent && n.state != key::unsent) {
                if (n.renewing == 0 || again)
                    to_renew_.push_back(id);
            } else if (may_repair && n.state == key::absent && !n.repairing && !n.again &&
                       c.has_majority(now)) {
                encode_set(c);
                send_set(i, id, request_kind::repair, now);
            }
        }
        for (std::size_t at = 0; at < to_renew_.size(); at += largest_batch) {
            const std::size_t count = std::min(largest_batch, to_renew_.size() - at);
            send_batch(i, std::span(to_renew_).subspan(at, count), false, now);
        }
    }
}

void redlock_core::send_batch(
    std::size_t node, std::span<const claim_id> claims, bool by_text, time_point now)
{
    const core::slot_id id = batches_.take();
    batch& b = batches_[id];
    b.claims.assign(claims.begin(), claims.end());
    command_.clear();
    if (fence_)
        encode_fenced_renewal(claims, by_text);
    else
        encode_renewal(claims, by_text);
    for (const claim_id each : claims) {
        claim& c = claims_[each];
        c.leaves(c.terms.ttl, now);
        ++c.at[node].renewing;
    }
    send(node, by_text ? request_kind::renew_by_text : request_kind::renew, id, now);
}

void redlock_core::encode_renewal(std::span<const claim_id> claims, bool by_text)
{
    begin_script(command_, renew_script, by_text, claims.size(), 2 * claims.size());
    for (const claim_id each : claims)
        resp::append_blob(command_, claims_[each].lock);
    for (const claim_id each : claims) {
        const claim& c = claims_[each];
        resp::append_blob(command_, c.token.view());
        resp::append_blob(command_, in_ms(c.terms.ttl));
    }
}

void redlock_core::on_renewed(std::size_t node, const request& r, reply answer, time_point now)
{
    const core::slot_id id = r.reference;
    batch& b = batches_[id];
    if (is_no_script(answer) && r.kind == static_cast<std::uint8_t>(request_kind::renew)) {
        std::vector<claim_id> still_held;
        for (const claim_id each : b.claims) {
            const claim* const c = claims_.find(each);
            if (c != nullptr && c->phase == stage::held)
                still_held.push_back(each);
        }
        end_batch(node, id);
        if (!still_held.empty())
            send_batch(node, still_held, true, now);
        return;
    }
    const bool usable =
        answer.front().kind == resp::value_kind::array && answer.front().count == b.claims.size();
    for (std::size_t k = 0; usable && k < b.claims.size(); ++k) {
        claim* const c = claims_.find(b.claims[k]);
        if (c == nullptr || c->phase != stage::held)
            continue;
        if (answer[k + 1].integer == 1)
            c->renewed(node, r.sent);
        else
            c->missing(node);
        report(b.claims[k], now);
    }
    const bool wrong = !usable && answer.front().kind != resp::value_kind::error;
    end_batch(node, id);
    if (wrong)
        fail_session(node, now);
}

void redlock_core::end_batch(std::size_t node, core::slot_id id)
{
    for (const claim_id each : batches_[id].claims) {
        claim* const c = claims_.find(each);
        if (c != nullptr && c->at[node].renewing > 0)
            --c->at[node].renewing;
    }
    batches_.give_back(id);
}

// Tells the locker what a held claim is worth now, if that has changed.
void redlock_core::report(claim_id id, time_point now)
{
    claim& c = claims_[id];
    const time_point valid_until = c.valid_until();
    if (valid_until <= now) {
        emit({.kind = event_kind::lost, .tag = c.tag});
    } else if (valid_until != c.reported) {
        c.reported = valid_until;
        emit({.kind = event_kind::validity, .tag = c.tag, .valid_until = valid_until});
    }
}

} // namespace holdfast::redis
