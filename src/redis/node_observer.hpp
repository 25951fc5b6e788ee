#pragma once

#include "core/journal.hpp"
#include "core/store_nodes.hpp"
#include "redis/pool/node_pool.hpp"
#include "redis/quorum/majority.hpp"
#include "redis/quorum/vote_round.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::redis {

// What users see of the nodes of a locker. Tells its observers, if there are any, when a node
// becomes usable or unusable, and how nodes vote.
class node_observer final : public core::store_nodes {
public:
    explicit node_observer(const node_pool& nodes) noexcept : nodes_(nodes) {}

    // core::store_nodes
    errc cut_off() const noexcept override { return nodes_.cut_off(); }
    std::vector<node_stats> stats() const override { return nodes_.stats(); }
    std::string name(std::size_t node) const override { return nodes_[node].name(); }
    void report_to(core::journal& observers) noexcept override { journal_ = &observers; }

    // The state of a node may have changed. Tells only what is new.
    void look(std::size_t node, core::time_point now)
    {
        if (journal_ != nullptr)
            compare(node, now);
    }

    // A node has voted on the attempt with this tag, or never will.
    void voted(std::uint64_t tag, std::size_t node, vote said, errc why, core::time_point now)
    {
        if (journal_ != nullptr && journal_->traces())
            mark_vote(tag, node, said, why, now);
    }

private:
    enum class state : std::uint8_t { unknown, up, down, quarantined };
    struct known {
        state is = state::unknown;
        std::uint64_t restarts = 0;
        std::string reason{}; // while it is down
    };

    void compare(std::size_t node, core::time_point now);
    void tell_up(std::size_t node, known& before, core::time_point now);
    void tell_down(std::size_t node, known& before, core::time_point now);
    void mark_vote(std::uint64_t tag, std::size_t node, vote said, errc why, core::time_point now);

    const node_pool& nodes_;
    core::journal* journal_ = nullptr;
    std::array<known, max_nodes> known_{};
};

} // namespace holdfast::redis
