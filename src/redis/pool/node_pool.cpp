#include "redis/pool/node_pool.hpp"

#include "redis/node/scripts.hpp"
#include "redis/quorum/majority.hpp"
#include "redis/quorum/rendezvous.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

using core::time_point;
using key = claim_node::key;

node_pool::node_pool(std::vector<node_settings> nodes, std::optional<core::duration> node_timeout,
    session_owner& owner, core::jitter& jitter)
    : node_timeout_(node_timeout)
{
    quarantine_ends_.fill(core::long_ago);
    for (node_settings& settings : nodes) {
        const auto tls = settings.tls;
        const std::string host = settings.where.host; // empty if it changes
        sessions_.push_back(std::make_unique<node_session>(
            sessions_.size(), std::move(settings), owner, wakes_, jitter.next()));
        connections_.push_back(&sessions_.back()->connection());
        if (tls != nullptr) {
            layers_.push_back(tls->wrap(sessions_.back()->connection(), host));
            connections_.back() = layers_.back().get();
        }
    }
    for (const auto& s : sessions_) {
        const auto sentinels = s->connection().address().sentinels();
        connections_.insert(connections_.end(), sentinels.begin(), sentinels.end());
    }
}

core::duration node_pool::timeout(core::duration ttl) const noexcept
{
    using namespace std::chrono_literals;
    return node_timeout_.value_or(std::clamp<core::duration>(ttl / 20, 5ms, 500ms));
}

core::duration node_pool::patience(core::duration ttl) const noexcept
{
    return std::min(timeout(ttl), queue_ttl / 6);
}

errc node_pool::why_down(std::size_t node) const noexcept
{
    const error_code code = sessions_[node]->health().last_failure().code;
    return code.category() == error_category() ? static_cast<errc>(code.value()) : errc{};
}

errc node_pool::cut_off() const noexcept
{
    std::size_t failing = 0, hopeless = 0;
    errc reason = errc::unreachable;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        if (!sessions_[i]->is_failing())
            continue;
        ++failing;
        const errc why = why_down(i);
        if (make_error_code(why) == condition::misconfigured && hopeless++ == 0)
            reason = why;
    }
    if (failing < blocking(sessions_.size()))
        return errc{};
    return hopeless >= blocking(sessions_.size()) ? reason : errc::unreachable;
}

void node_pool::fail(std::size_t node, time_point now)
{
    sessions_[node]->fail(errc::protocol_error, "an answer of the wrong type", now);
}

std::string node_pool::duplicate_of(std::size_t node) const
{
    const std::string& run_id = sessions_[node]->server().run_id;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        if (i != node && is_ready(i) && !run_id.empty() && sessions_[i]->server().run_id == run_id)
            return sessions_[i]->name();
    }
    return {};
}

bool node_pool::keep_queues() const noexcept
{
    return std::any_of(
        sessions_.begin(), sessions_.end(), [](const auto& s) { return s->server().keeps_queue; });
}

std::size_t node_pool::queue_node_of(const claim& c, time_point now, among which) const noexcept
{
    struct choice {
        std::size_t node = max_nodes;
        std::uint64_t rank = 0;
    };
    choice best, avoided;
    const bool waits = which == among::waiting || which == among::untried;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        if (!may_keep_queue(i, c, which, now))
            continue;
        choice& chosen = waits && unfit_.is_fruitless(c.hash, i, now) ? avoided : best;
        const std::uint64_t rank = queue_node_rank(c.hash, sessions_[i]->server().identity);
        if (chosen.node == max_nodes || rank > chosen.rank)
            chosen = {i, rank};
    }
    return best.node != max_nodes ? best.node : avoided.node;
}

bool node_pool::majority_answers(core::duration ttl, time_point now) const noexcept
{
    const auto answering = std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& s) {
        return s->now() == reachability::ready && s->answers_within(timeout(ttl), now);
    });
    return static_cast<std::size_t>(answering) >= majority(sessions_.size());
}

time_point node_pool::preferred_is_fit_at(
    const claim& c, std::size_t queue_node, time_point now) const noexcept
{
    time_point earliest = core::never;
    const std::uint64_t rank = queue_node_rank(c.hash, sessions_[queue_node]->server().identity);
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const server_info& server = sessions_[i]->server();
        const time_point end = unfit_.stale_until(c.hash, i);
        if (server.keeps_queue && queue_node_rank(c.hash, server.identity) > rank && now < end)
            earliest = std::min(earliest, end);
    }
    return earliest;
}

bool node_pool::may_keep_queue(
    std::size_t node, const claim& c, among which, time_point now) const noexcept
{
    const node_session& session = *sessions_[node];
    const claim_node& n = c.keys[node];
    if (!session.server().keeps_queue || in_quarantine(node, now) ||
        !session.answers_within(timeout(c.params.ttl), now))
        return false;
    if (unfit_.knows_no_queue(c.hash, node, now))
        return false;
    if (which == among::holding) // stale keys and earlier attempts do not matter here
        return n.state != key::absent && n.state != key::unsent;
    return !unfit_.knows_stale(c.hash, node, now) && (which != among::untried || !n.tried);
}

void node_pool::note_queue_error(
    std::size_t node, const claim* c, std::string_view queue, reply answer, time_point now)
{
    const resp::value& v = answer.front();
    if (v.kind == resp::value_kind::error && refuses_command(v.text))
        sessions_[node]->has_no_queue();
    else
        note_if_unusable(node, c, queue, answer, now);
}

bool node_pool::note_if_unusable(
    std::size_t node, const claim* c, std::string_view queue, reply answer, time_point now)
{
    const resp::value& v = answer.front();
    if (v.kind != resp::value_kind::error || c == nullptr || !is_about_data(v.text))
        return false;
    unfit_.note_no_queue(c->hash, node, now);
    sessions_[node]->health().explain("the queue " + printable(queue) + " cannot be used: ");
    return true;
}

void node_pool::wake(time_point now)
{
    if (wakes_.at() > now)
        return;
    wakes_.start_over();
    for (const auto& s : sessions_) {
        if (s->wake_at() <= now)
            s->wake(now);
        wakes_.note(s->wake_at());
    }
}

void node_pool::close(time_point now)
{
    for (const auto& s : sessions_)
        s->shut(now);
    wakes_.start_over(); // what is shut has nothing to do any more
}

std::vector<node_stats> node_pool::stats() const
{
    std::vector<node_stats> all;
    for (const auto& s : sessions_)
        all.push_back(s->stats());
    return all;
}

} // namespace holdfast::redis
