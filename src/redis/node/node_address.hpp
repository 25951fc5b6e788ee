#pragma once

#include "core/connection.hpp"
#include "redis/node/connection_schedule.hpp"
#include "redis/node/node_settings.hpp"
#include "redis/node/primary_search.hpp"
#include "redis/node/reply.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace holdfast::redis {

class node_address_owner {
public:
    // The search for the address has failed.
    virtual void on_no_address(failure why, core::time_point now) = 0;

protected:
    ~node_address_owner() = default;
};

// Where a node is: at the address of the settings, or where its sentinels or the cluster say. Tells
// the schedule of the connection when the address is known.
class node_address final : private primary_search_owner {
public:
    // All of these outlive it.
    node_address(
        const node_settings& settings, connection_schedule& schedule, node_address_owner& owner);
    node_address(const node_address&) = delete;
    node_address& operator=(const node_address&) = delete;

    // As it may be logged: with the address, if that is known.
    const std::string& name() const noexcept { return name_; }
    const core::address& where() const noexcept { return where_; }

    // In a cluster: it is there from now on, or nowhere until the next aim().
    void aim(core::address where);
    void park() noexcept { aimed_ = false; }
    bool is_aimed() const noexcept { return aimed_; }

    // Goes on with the search, if the schedule wants one.
    void search_if_due(core::time_point now);
    // The time of the search is up. Why it has failed, unless it goes on or has found the address.
    std::optional<failure> on_overdue(core::time_point now);
    void stop() noexcept;
    // The node is what it was taken for.
    void proved_right() noexcept;

    // To the sentinels; none if they are not asked.
    std::span<core::connection* const> sentinels() const noexcept;

private:
    // primary_search_owner
    void on_found(core::address where, core::time_point now) override;
    void on_not_found(failure why, core::time_point now) override
    {
        owner_.on_no_address(std::move(why), now);
    }

    const node_settings& settings_;
    connection_schedule& schedule_;
    node_address_owner& owner_;
    std::string name_;
    core::address where_;
    bool aimed_ = false;                     // the cluster has told the address
    std::unique_ptr<primary_search> search_; // null: the address is fixed, or told
};

} // namespace holdfast::redis
