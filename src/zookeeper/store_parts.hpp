#pragma once

#include "core/remote_queue.hpp"
#include "core/store_cleanup.hpp"
#include "core/store_nodes.hpp"
#include "zookeeper/claim_table.hpp"
#include "zookeeper/servers.hpp"
#include "zookeeper/session_keeper.hpp"
#include "zookeeper/store_answers.hpp"
#include "zookeeper/watched_nodes.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::zookeeper_store {

// The queue is the store itself. Waiters do not poll, so no window is needed.
class store_queue final : public core::remote_queue {
public:
    // Both outlive it.
    store_queue(store_answers& answers, const watched_nodes& watched) noexcept
        : answers_(answers),
          watched_(watched)
    {}

    // core::remote_queue
    bool is_usable() const noexcept override { return true; }
    void report_waiters(core::claim_id id, core::time_point now) override
    {
        if (!watched_.reports(id))
            answers_.look_for_waiters(id, now);
    }
    bool reports_waiters(core::claim_id id) const noexcept override { return watched_.reports(id); }

private:
    store_answers& answers_;
    const watched_nodes& watched_;
};

class server_nodes final : public core::store_nodes {
public:
    // It outlives it.
    explicit server_nodes(servers& all) noexcept : servers_(all) {}

    errc cut_off() const noexcept override { return servers_.cut_off(); }
    std::vector<node_stats> stats() const override { return servers_.stats(); }
    std::string name(std::size_t node) const override { return servers_.name_of(node); }
    void report_to(core::journal& observers) noexcept override { servers_.report_to(observers); }

private:
    servers& servers_;
};

// The end of a locker: nodes are deleted, and the session is given back. If a node is to stay, the
// session is left to its timeout.
class last_steps final : public core::store_cleanup {
public:
    // All of these outlive it.
    last_steps(const claim_table& claims, const session& kept, session_keeper& keeper,
        const requester& out) noexcept
        : claims_(claims),
          session_(kept),
          keeper_(keeper),
          out_(out)
    {}

    // core::store_cleanup
    void leave(core::claim_id) override { ++staying_; }
    void wind_up(core::time_point now) override
    {
        winding_up_ = true;
        serve(now);
    }
    std::size_t under_way() const noexcept override
    {
        const bool gives_back = winding_up_ && staying_ == 0 && session_.is_alive();
        return claims_.size() - staying_ + (gives_back ? 1 : 0);
    }

    bool is_due() const noexcept
    {
        return winding_up_ && staying_ == 0 && session_.is_alive() && out_.can_send() &&
               out_.count(request::kind::close_session) == 0;
    }
    void serve(core::time_point now)
    {
        if (is_due())
            keeper_.close(now);
    }

private:
    const claim_table& claims_;
    const session& session_;
    session_keeper& keeper_;
    const requester& out_;
    std::size_t staying_ = 0; // claims that end with their session
    bool winding_up_ = false;
};

struct store_parts {
    store_queue queue;
    server_nodes nodes;
    last_steps end;
};

} // namespace holdfast::zookeeper_store
