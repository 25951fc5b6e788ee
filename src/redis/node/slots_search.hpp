#pragma once

#include "core/backoff.hpp"
#include "redis/node/member_round.hpp"
#include "redis/node/slot_table.hpp"
#include "redis/node/slots_query.hpp"

#include <vector>

namespace holdfast::redis {

class slots_search_owner {
public:
    // table() has what a member of the cluster has said.
    virtual void on_table(core::time_point now) = 0;
    // All members have been asked in vain: see why_not().
    virtual void on_no_table(core::time_point now) = 0;

protected:
    ~slots_search_owner() = default;
};

// Finds out which primary has which slots, when it is asked: asks
// the seeds and the primaries that are known, one after the other, until one
// answers. Makes pauses that grow as long as nothing new is found.
class slots_search final : private slots_query_owner {
public:
    // `settings`: of the connections to all members, without the address. It
    // outlives this.
    slots_search(std::vector<core::address> seeds, const node_settings& settings,
        slots_search_owner& owner, std::uint64_t jitter_seed);
    slots_search(const slots_search&) = delete;
    slots_search& operator=(const slots_search&) = delete;

    // The table may be out of date.
    void want(core::time_point now) noexcept;
    void wake(core::time_point now);
    core::time_point wake_at() const noexcept { return wake_at_; }
    void shut() noexcept;

    bool has_table() const noexcept { return has_table_; }
    const slot_table& table() const noexcept { return table_; }
    // Whether all members were asked in vain the last time, and why.
    bool has_failed() const noexcept { return why_not_.code.failed(); }
    const failure& why_not() const noexcept { return why_not_; }

    core::connection& connection() noexcept { return query_.connection(); }

private:
    // slots_query_owner
    void on_slots(reply answer, core::time_point now) override;
    void on_no_slots(failure why, core::time_point now) override;

    void begin(core::time_point now);
    void ask(core::time_point now);
    void end(bool found_anything_new, core::time_point now) noexcept;

    enum class phase : std::uint8_t { idle, wanted, asking, between, shut };

    const node_settings& settings_;
    slots_search_owner& owner_;
    core::jitter jitter_;
    slots_query query_;
    member_round members_;
    slot_table table_, read_;
    bool has_table_ = false;
    phase phase_ = phase::idle;
    core::time_point wake_at_ = core::never, not_before_ = core::long_ago;
    unsigned fruitless_ = 0; // searches in a row that found nothing new
    failure why_not_;        // of the last round
};

} // namespace holdfast::redis
