#include "verification/simulation/historic_lock.hpp"

#include "redis/node/scripts.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;
using core::time_point;

constexpr core::duration retry_pause = 10ms;

} // namespace

std::string historic_protocol::token(core::entropy& random, time_point)
{
    return std::string(core::owner_token::make(random)->view());
}

void historic_protocol::take(historic_connection& node, const std::string& key,
    const std::string& token, std::int64_t ttl, time_point, taken then)
{
    node.send({"SET", key, token, "NX", "PX", std::to_string(ttl)},
        [then](const answer& a, time_point at) { then(!a.lost && a.text == "OK", at); });
}

void historic_protocol::give_back(
    historic_connection& node, const std::string& key, const std::string& token)
{
    node.send({"EVAL", redis::release_script.text, "1", key, token}, {});
}

historic_lock::historic_lock(
    const subject_settings& settings, std::unique_ptr<historic_protocol> how)
    : random_(*settings.random),
      how_(std::move(how))
{
    node_.on_open = [this] {
        for (const debt& d : std::exchange(debts_, {}))
            how_->give_back(node_, d.key, d.token);
    };
}

core::slot_id historic_lock::acquire(std::uint64_t tag, std::string_view resource,
    const core::lease_params& terms, std::chrono::milliseconds wait, bool once, time_point now)
{
    waits_[++last_id_] = {.tag = tag,
        .key = std::string(resource),
        .terms = terms,
        .ends = core::later(now, wait),
        .next = now,
        .single = once || wait == 0ms,
        .quiet = once};
    return last_id_;
}

bool historic_lock::cancel(core::slot_id wait, bool only_if_unsent, time_point)
{
    return !only_if_unsent && waits_.erase(wait) != 0;
}

bool historic_lock::release(core::slot_id lease, std::uint64_t tag, time_point now)
{
    const auto found = leases_.find(lease);
    if (found == leases_.end())
        return false;
    const bool over = now >= found->second.until;
    drop(lease, now);
    effects_.push({.kind = core::effect_kind::released,
        .outcome = over ? release_outcome::expired : release_outcome::released,
        .tag = tag});
    return true;
}

void historic_lock::drop(core::slot_id lease, time_point)
{
    const auto found = leases_.find(lease);
    if (found == leases_.end())
        return;
    owe(found->second.key, found->second.token);
    leases_.erase(found);
    effects_.push({.kind = core::effect_kind::gone, .lease = lease});
}

bool historic_lock::held(core::slot_id lease, time_point now)
{
    return now < valid_until(lease);
}

time_point historic_lock::valid_until(core::slot_id lease)
{
    const auto found = leases_.find(lease);
    return found == leases_.end() ? core::long_ago : found->second.until;
}

void historic_lock::owe(const std::string& key, const std::string& token)
{
    if (node_.open())
        how_->give_back(node_, key, token);
    else
        debts_.push_back({key, token});
}

void historic_lock::wake(time_point now, time_point)
{
    node_.wake(now);
    for (auto& [id, lease] : leases_) {
        if (!lease.told && now >= lease.until - lease.guard) {
            lease.told = true;
            effects_.push({.kind = core::effect_kind::must_stop, .lease = id});
        }
    }
    look_after_waits(now);
    if (closing_ && !closed_) {
        closed_ = true;
        node_.shut(now);
        effects_.push({.kind = core::effect_kind::closed});
    }
}

void historic_lock::look_after_waits(time_point now)
{
    std::vector<core::slot_id> due;
    for (const auto& [id, w] : waits_)
        due.push_back(id);
    for (const core::slot_id id : due) {
        const waiting& w = waits_.at(id);
        if (!w.single && now >= w.ends) {
            effects_.push(
                {.kind = core::effect_kind::wait_ended, .reason = errc::contended, .tag = w.tag});
            waits_.erase(id);
        } else if (!w.asking && now >= w.next) {
            ask(id, now);
        }
    }
}

time_point historic_lock::wake_at() const
{
    time_point first = closing_ && !closed_ ? core::long_ago : node_.wake_at();
    for (const auto& [id, lease] : leases_) {
        if (!lease.told)
            first = std::min(first, lease.until - lease.guard);
    }
    for (const auto& [id, w] : waits_)
        first = std::min({first, w.single ? core::never : w.ends, w.asking ? core::never : w.next});
    return first;
}

std::optional<core::effect> historic_lock::next_effect()
{
    if (effects_.empty())
        return std::nullopt;
    return effects_.pop();
}

void historic_lock::ask(core::slot_id id, time_point now)
{
    waiting& w = waits_.at(id);
    if (!node_.open())
        return answered(id, {}, now, false, now);
    w.asking = true;
    const std::string token = how_->token(random_, now);
    const auto ttl = std::chrono::duration_cast<std::chrono::milliseconds>(w.terms.ttl).count();
    const time_point useful_until = now + w.terms.ttl / 2;
    how_->take(node_, w.key, token, ttl, now,
        [this, id, token, key = w.key, asked = now, useful_until](bool taken, time_point at) {
            const bool lost = !node_.open();
            const bool wanted = waits_.contains(id);
            const bool useful = taken && wanted && !lost && at < useful_until;
            if (lost || (taken && !useful))
                owe(key, token); // the node has the key, or may have it, and no lease will use it
            if (wanted)
                answered(id, token, asked, useful, at);
        });
}

void historic_lock::answered(
    core::slot_id id, const std::string& token, time_point asked, bool taken, time_point now)
{
    waiting& w = waits_.at(id);
    w.asking = false;
    w.next = now + retry_pause;
    if (!taken && !w.single)
        return;
    if (taken) {
        leases_[id] = {.key = w.key,
            .token = token,
            .until = asked + w.terms.ttl - w.terms.drift,
            .guard = w.terms.guard};
        effects_.push({.kind = core::effect_kind::acquired, .tag = w.tag, .lease = id});
    } else {
        const errc reason = w.quiet ? errc{} : errc::contended;
        effects_.push({.kind = core::effect_kind::wait_ended, .reason = reason, .tag = w.tag});
    }
    waits_.erase(id);
}

} // namespace holdfast::simulation
