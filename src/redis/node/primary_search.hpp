#pragma once

#include "core/connection.hpp"
#include "redis/node/reply.hpp"
#include "redis/node/sentinel_query.hpp"
#include "redis/node/sentinel_settings.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::redis {

class primary_search_owner {
public:
    virtual void on_found(core::address where, core::time_point now) = 0;
    virtual void on_not_found(failure why, core::time_point now) = 0;

protected:
    ~primary_search_owner() = default;
};

// Asks all sentinels at once for the address of the primary. The address that
// more than half of them name, without those that have failed, is the answer.
// Without such an address, it is the one that most of them name, once all have
// answered or failed. After a part of the time, those that are not even
// connected do not count any more: a silent sentinel must not prevent the
// search. Those that are connected may be slow, and are waited for until the
// end if they could outvote the others. So a sentinel that is cut off from the
// others, and still names the old primary, does not decide by being the
// fastest.
class primary_search final : private sentinel_query_owner {
public:
    // Both outlive it.
    primary_search(const sentinel_settings& settings, primary_search_owner& owner);
    primary_search(const primary_search&) = delete;
    primary_search& operator=(const primary_search&) = delete;

    // The search should be over at `end`. Returns when settle() is due.
    core::time_point begin(core::time_point now, core::time_point end);
    core::time_point end() const noexcept { return end_; }
    // Decides on the answers so far. False if there are none, or if they may
    // still be outvoted.
    bool settle(core::time_point now);
    bool under_way() const noexcept { return under_way_; }
    void stop() noexcept;
    // Why there is no answer.
    failure why_not() const;

    // The node at the address is a primary.
    void proved_right() noexcept { doubtful_.reset(); }

    std::span<core::connection* const> connections() const noexcept { return connections_; }

private:
    // sentinel_query_owner
    void on_settled(core::time_point now) override;

    const sentinel_query* best(std::size_t& votes) const;
    std::size_t votes_for(const core::address& where) const noexcept;
    bool is_doubtful(const core::address& where) const noexcept;
    // By those that have not answered yet; after the quarter, only by those that
    // are connected.
    bool may_be_outvoted(std::size_t votes, core::time_point now) const noexcept;
    bool anyone_asking() const noexcept;
    void finish(const sentinel_query& found, core::time_point now);

    const sentinel_settings& settings_;
    primary_search_owner& owner_;
    std::vector<std::unique_ptr<sentinel_query>> queries_;
    std::vector<std::unique_ptr<core::connection>> layers_; // of sentinels over TLS
    std::vector<core::connection*> connections_;
    bool under_way_ = false;
    core::time_point quarter_ = core::never; // when that of the time is over
    core::time_point end_ = core::never;
    std::optional<core::address> doubtful_; // the last answer, until it has been proved right
};

} // namespace holdfast::redis
