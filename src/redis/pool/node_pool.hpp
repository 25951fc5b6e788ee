#pragma once

#include "core/backoff.hpp"
#include "core/wake_time.hpp"
#include "redis/claim/claim.hpp"
#include "redis/node/node_session.hpp"
#include "redis/pool/unfit_queue_nodes.hpp"

#include <holdfast/stats.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

// The nodes of a locker: the sessions with them, why they are unreachable, and which of them keeps
// the queue of a resource.
class node_pool {
public:
    // Precondition: 1 to max_nodes nodes. `node_timeout`: none means the default, which depends on
    // the ttl.
    node_pool(std::vector<node_settings> nodes, std::optional<core::duration> node_timeout,
        session_owner& owner, core::jitter& jitter);

    std::size_t size() const noexcept { return sessions_.size(); }
    node_session& operator[](std::size_t node) noexcept { return *sessions_[node]; }
    const node_session& operator[](std::size_t node) const noexcept { return *sessions_[node]; }

    bool is_ready(std::size_t node) const noexcept
    {
        return sessions_[node]->now() == reachability::ready;
    }

    // Precondition: the node is ready.
    void send(std::size_t node, std::string_view command, const request& r)
    {
        sessions_[node]->send(command, r);
    }

    // How long an answer may take with this ttl.
    core::duration timeout(core::duration ttl) const noexcept;
    // The same for the queue node of a claim that waits. Longer, and its places in other queues
    // would end meanwhile.
    core::duration patience(core::duration ttl) const noexcept;

    // Why an unreachable node is down, if the reason is an errc.
    errc why_down(std::size_t node) const noexcept;
    // As for core::store_nodes.
    errc cut_off() const noexcept;
    // A node has told when a key ends, or has granted it. A key that never ends by itself is
    // reported with the state of the node.
    void note_end(std::size_t node, std::string_view key, bool ends)
    {
        sessions_[node]->health().note_end(key, ends);
    }
    // The node has answered with a reply of the wrong type.
    // Its owner is told of all its requests, and may forget claims, before this returns.
    void fail(std::size_t node, core::time_point now);
    // The name of another node that is the same server, or an empty string.
    std::string duplicate_of(std::size_t node) const;

    // The node grants nothing until then, and so keeps no queue; `long_ago` ends that.
    void set_quarantine(std::size_t node, core::time_point until) noexcept
    {
        quarantine_ends_[node] = until;
    }
    core::time_point quarantine_end(std::size_t node) const noexcept
    {
        return quarantine_ends_[node];
    }
    bool in_quarantine(std::size_t node, core::time_point now) const noexcept
    {
        return now < quarantine_ends_[node];
    }

    // Whether any node keeps queues now.
    bool keep_queues() const noexcept;
    enum class among : std::uint8_t {
        all,
        waiting, // all: one where turns led to no lease only if there is no other
        untried, // the same, and not yet tried in the claim's search for a queue node
        holding  // may have our key
    };
    // Which node keeps the queue of this claim's resource: the reachable one with the highest rank,
    // or max_nodes.
    std::size_t queue_node_of(
        const claim& c, core::time_point now, among which = among::all) const noexcept;
    // Whether so many nodes are connected and not silent.
    bool majority_answers(core::duration ttl, core::time_point now) const noexcept;
    // When a node that is preferred to this one no longer counts as unfit for a stale key; `never`
    // if there is none.
    core::time_point preferred_is_fit_at(
        const claim& c, std::size_t queue_node, core::time_point now) const noexcept;

    // A node has answered a command of the queue of that name with an error. A node that
    // permanently refuses the command is not asked again. Temporary trouble is no reason to choose
    // another queue node than other clients do.
    void note_queue_error(std::size_t node, const claim* c, std::string_view queue, reply answer,
        core::time_point now);
    // The same if the error is about this queue only, and says nothing about others. True if it is.
    bool note_if_unusable(std::size_t node, const claim* c, std::string_view queue, reply answer,
        core::time_point now);
    unfit_queue_nodes& unfit() noexcept { return unfit_; }

    std::span<core::connection* const> connections() const noexcept { return connections_; }
    // Possibly too early: when answers have come, nothing is taken back.
    core::time_point wake_at() const noexcept { return wakes_.at(); }
    void wake(core::time_point now);
    void close(core::time_point now);
    std::vector<node_stats> stats() const;

private:
    bool may_keep_queue(
        std::size_t node, const claim& c, among which, core::time_point now) const noexcept;

    std::optional<core::duration> node_timeout_;
    core::wake_time wakes_; // of the sessions
    std::vector<std::unique_ptr<node_session>> sessions_;
    std::vector<std::unique_ptr<core::connection>> layers_; // of sessions over TLS
    std::vector<core::connection*> connections_;
    unfit_queue_nodes unfit_;
    std::array<core::time_point, max_nodes> quarantine_ends_{};
};

} // namespace holdfast::redis
