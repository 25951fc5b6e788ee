#include "redis/renewals.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::claim_id;
using core::time_point;
using key = claim_node::key;

namespace {

// Renewals of a claim that one node may owe answers to, where its user extends it in a loop and the
// other nodes confirm that.
constexpr unsigned most_renewing = 100;

} // namespace

void renewals::renew(std::span<const claim_id> claims, bool again, time_point now)
{
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_.is_ready(i))
            continue;
        // Congestion does not stop renewals: normally a claim has one under way to a node, which is
        // little.
        const bool may_repair = !nodes_[i].congested(now);
        due_.clear();
        for (const claim_id id : claims) {
            const claim& c = claims_[id];
            const claim_node& n = c.keys[i];
            if (n.state != key::absent && n.state != key::unsent) {
                if (n.renewing == 0 || (again && n.renewing < most_renewing))
                    due_.push_back(id);
            } else if (may_repair && n.state == key::absent && !n.repairing && !n.again &&
                       c.keys.has_majority(now)) {
                repair(i, id, now);
            }
        }
        for (std::size_t at = 0; at < due_.size(); at += largest_batch_) {
            const std::size_t count = std::min(largest_batch_, due_.size() - at);
            send(i, std::span(due_).subspan(at, count), false, now);
        }
    }
}

void renewals::repair(std::size_t node, claim_id id, time_point now)
{
    claim& c = claims_[id];
    nodes_.send(node, dialect_.common().repair(c, node),
        {.reference = id, .kind = request_kind::repair, .sent = now});
    c.keys[node].repairing = true;
    c.round.ask_for_key(node);
    c.keys.stays(now + c.params.ttl);
}

void renewals::send(
    std::size_t node, std::span<const claim_id> claims, bool by_text, time_point now)
{
    const core::slot_id id = batches_.take();
    batches_[id].claims.assign(claims.begin(), claims.end());
    encoded_.clear();
    for (const claim_id each : claims) {
        claim& c = claims_[each];
        encoded_.push_back(&c);
        c.keys.stays(now + c.params.ttl);
        ++c.keys[node].renewing;
    }
    nodes_.send(node, dialect_.common().renew(encoded_, node, by_text),
        {.reference = id, .kind = request_kind::renew, .by_text = by_text, .sent = now});
}

std::span<const claim_id> renewals::claims_of(const request& r) noexcept
{
    const batch* const b = batches_.find(r.reference);
    return b != nullptr ? std::span<const claim_id>(b->claims) : std::span<const claim_id>();
}

bool renewals::say_again(std::size_t node, const request& r, time_point now)
{
    std::vector<claim_id> still_held;
    for (const claim_id each : claims_of(r)) {
        const claim* const c = claims_.find(each);
        if (c != nullptr && c->stage == claim_stage::held)
            still_held.push_back(each);
    }
    end(node, r.reference);
    if (!still_held.empty())
        send(node, still_held, true, now);
    return true;
}

std::span<const claim_id> renewals::on_renewed(
    std::size_t node, const request& r, reply answer, time_point now)
{
    heard_.clear();
    const std::vector<claim_id>& asked = batches_[r.reference].claims;
    const resp::value& v = answer.front();
    const bool usable = v.kind == resp::value_kind::array && v.count == asked.size();
    for (std::size_t k = 0; usable && k < asked.size(); ++k) {
        claim* const c = claims_.find(asked[k]);
        if (c == nullptr || !c->is_kept())
            continue;
        if (answer[k + 1].integer == 1)
            c->renewed(node, r.sent, now);
        else
            c->missing(node, r.sent);
        heard_.push_back(asked[k]);
    }
    const bool broken = !usable && v.kind != resp::value_kind::error;
    for (std::size_t k = 0; broken && k < asked.size(); ++k) {
        if (claim* const c = claims_.find(asked[k]))
            c->stray();
    }
    end(node, r.reference);
    if (broken)
        nodes_.fail(node, now);
    return heard_;
}

void renewals::end(std::size_t node, core::slot_id renewal)
{
    for (const claim_id each : batches_[renewal].claims) {
        claim* const c = claims_.find(each);
        if (c != nullptr && c->keys[node].renewing > 0)
            --c->keys[node].renewing;
    }
    batches_.give_back(renewal);
}

bool renewals::on_repaired(std::size_t node, const request& r, vote v, time_point now)
{
    claim* const c = claims_.find(r.reference);
    if (c == nullptr)
        return false;
    c->keys[node].repairing = false;
    if (v == vote::granted)
        c->note_end(now);
    if (v == vote::granted && c->is_kept())
        c->set_again(node, r.sent, now);
    // Or may be ours: what refuses may be our own first SET, which arrived late over an old
    // connection. The next renewal shows that, and a deletion is due in any case.
    else if (v != vote::failed)
        c->keys.repaired(node);
    return true;
}

} // namespace holdfast::redis
