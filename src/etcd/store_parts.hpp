#pragma once

#include "core/remote_queue.hpp"
#include "core/store_cleanup.hpp"
#include "core/store_nodes.hpp"
#include "etcd/claim_desk.hpp"
#include "etcd/claim_table.hpp"
#include "etcd/members.hpp"
#include "etcd/session_keeper.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::etcd_store {

// The queue is the store itself. Nobody polls, so nobody needs a window.
class store_queue final : public core::remote_queue {
public:
    bool is_usable() const noexcept override { return true; }
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
