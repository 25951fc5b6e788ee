#pragma once

#include "sql/claim_table.hpp"
#include "sql/database.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace holdfast::sql {

// What is known of the database's clock. Statements bear the time after which they do nothing; it
// is not safety that depends on it.
class database_clock {
public:
    // It showed `shown`, in microseconds since the epoch, at some time from `asked` to `now`.
    // `surely`: what was known before is wrong.
    void note(
        std::int64_t shown, core::time_point asked, core::time_point now, bool surely) noexcept
    {
        const core::duration error = now - asked;
        if (shown == 0 || (ahead_ && !surely && error > uncertainty(now)))
            return;
        ahead_ = shown - microseconds(asked);
        error_ = error;
        noted_at_ = now;
    }
    // What it shows at that time, at the latest.
    std::int64_t at(core::time_point when) const noexcept
    {
        return ahead_ ? *ahead_ + microseconds(when) : INT64_MAX;
    }
    // By how much it may show less. Clocks do not run at quite the same rate.
    core::duration uncertainty(core::time_point now) const noexcept
    {
        return error_ + (now - noted_at_) / 64 + std::chrono::milliseconds(10);
    }

private:
    static std::int64_t microseconds(core::time_point t) noexcept
    {
        return std::chrono::duration_cast<std::chrono::microseconds>(t.time_since_epoch()).count();
    }

    std::optional<std::int64_t> ahead_; // of the clock of leases
    core::duration error_{};
    core::time_point noted_at_{};
};

// Gathers what claims want, and makes one statement of it at a time. The kinds of statements have
// turns: first what others may wait for, then renewals, then looks for waiters, then attempts and
// looks for the turn. So no kind waits for more than one statement of each other kind, and a
// renewal for no more than one.
class desk {
public:
    // A statement has at most so many entries, so that it takes some milliseconds.
    static constexpr std::size_t most_entries = 4096;

    struct statement_under_way {
        action what{};
        bool waits = true;                    // for rows that others have locked
        std::vector<core::claim_id> claims{}; // in the order of its entries
        core::time_point sent{}, due = core::never;
        core::time_point late_until{}; // a want may be executed until then
    };

    // Both outlive it. `request_timeout`: 0: from the ttl.
    desk(claim_table& claims, database& server, core::duration request_timeout) noexcept
        : claims_(claims),
          database_(server),
          request_timeout_(request_timeout)
    {}

    core::duration patience(core::duration ttl) const noexcept;

    // The claim is to be in the next statement for its stage.
    void list(core::claim_id id);

    bool has_statement() const noexcept
    {
        return !under_way_ && std::any_of(lists_.begin(), lists_.end(),
                                  [](const auto& each) { return !each.empty(); });
    }
    void send_statement(core::time_point now);
    bool is_under_way() const noexcept { return under_way_.has_value(); }

    // When the statement under way has failed if it has no answer until then.
    core::time_point answer_due() const noexcept
    {
        return under_way_ ? under_way_->due : core::never;
    }
    // The statement under way has ended: empty if there was none. To be given back: its memory is
    // used again.
    std::optional<statement_under_way> end_statement() noexcept;
    void reuse(statement_under_way&& over) noexcept { spare_ = std::move(over.claims); }

    // The next statement passes locked rows over.
    void pass_over_once() noexcept { passes_over_ = true; }
    // A statement with so many entries was blocked although it passes locked rows over. The next
    // one has half of them at most, and later ones more again, so that one entry does not stop
    // others for long.
    void shrink(std::size_t entries) noexcept { most_now_ = std::max<std::size_t>(entries / 2, 1); }
    void grow() noexcept { most_now_ = std::min(2 * most_now_, most_entries); }

    database_clock& clock() noexcept { return clock_; }

private:
    void fill(action what, core::time_point now);

    claim_table& claims_;
    database& database_;
    const core::duration request_timeout_;
    database_clock clock_;
    std::array<std::vector<core::claim_id>, actions> lists_;
    std::size_t next_kind_ = 0;  // of the statement that is looked for first
    bool renewals_wait_ = false; // behind the last statement
    std::optional<statement_under_way> under_way_;
    std::vector<core::claim_id> spare_, later_;
    std::vector<entry> entries_;
    std::unordered_set<std::string_view> resources_;
    bool passes_over_ = false;
    std::size_t most_now_ = most_entries;
};

} // namespace holdfast::sql
