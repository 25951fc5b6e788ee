#pragma once

#include "core/remote_queue.hpp"
#include "core/store_cleanup.hpp"
#include "core/store_nodes.hpp"
#include "etcd/claim_desk.hpp"
#include "etcd/claim_table.hpp"
#include "etcd/members.hpp"
#include "etcd/session_keeper.hpp"
#include "etcd/watches.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::etcd_store {

// The queue is the store itself. Waiters do not poll, so no window is needed.
class store_queue final : public core::remote_queue {
public:
    // All of these outlive it.
    store_queue(const claim_table& claims, watches& queues, members& servers) noexcept
        : claims_(claims),
          watches_(queues),
          members_(servers)
    {}

    // core::remote_queue
    bool is_usable() const noexcept override { return true; }
    void report_waiters(core::claim_id id, core::time_point) override
    {
        const claim* const c = claims_.find(id);
        if (c != nullptr && members_.is_up())
            watches_.report_puts(c->place.queue(), id, c->place.created() + 1, members_.current());
    }
    bool reports_waiters(core::claim_id id) const noexcept override
    {
        return watches_.reports_puts(id);
    }

private:
    const claim_table& claims_;
    watches& watches_;
    members& members_;
};

class member_nodes final : public core::store_nodes {
public:
    // It outlives it.
    explicit member_nodes(members& servers) noexcept : members_(servers) {}

    errc cut_off() const noexcept override { return members_.cut_off(); }
    std::vector<node_stats> stats() const override { return members_.stats(); }
    std::string name(std::size_t node) const override { return members_.name_of(node); }
    void report_to(core::journal& observers) noexcept override { members_.report_to(observers); }

private:
    members& members_;
};

// The end of a locker: keys are deleted, and sessions are given back.
class last_steps final : public core::store_cleanup {
public:
    // All of these outlive it.
    last_steps(const claim_table& claims, session_keeper& sessions, claim_desk& desk) noexcept
        : claims_(claims),
          sessions_(sessions),
          desk_(desk)
    {}

    bool is_winding_up() const noexcept { return winding_up_; }

    // core::store_cleanup
    void leave(core::claim_id) override { ++staying_; }
    void wind_up(core::time_point now) override
    {
        winding_up_ = true;
        desk_.now_is(now);
        sessions_.serve(true, now);
    }
    std::size_t under_way() const noexcept override
    {
        return claims_.size() - staying_ + (winding_up_ ? sessions_.left() : 0);
    }

private:
    const claim_table& claims_;
    session_keeper& sessions_;
    claim_desk& desk_;
    std::size_t staying_ = 0; // claims that end with their session
    bool winding_up_ = false;
};

struct store_parts {
    store_queue queue;
    member_nodes nodes;
    last_steps end;
};

} // namespace holdfast::etcd_store
