#pragma once

#include "core/backend.hpp"
#include "core/backoff.hpp"
#include "core/ring.hpp"
#include "sql/claim_table.hpp"
#include "sql/database.hpp"
#include "sql/desk.hpp"
#include "sql/look_schedule.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::sql {

// Decides on the next stage of each claim, by what the database has told, and reports it.
class course {
public:
    // All of these outlive it.
    course(
        claim_table& claims, desk& statements, database& server, std::uint64_t jitter_seed) noexcept
        : claims_(claims),
          desk_(statements),
          database_(server),
          jitter_(jitter_seed),
          looks_(jitter_seed)
    {}

    // Reports it to the locker.
    void report(const core::backend_event& what) { events_.push(what); }
    std::optional<core::backend_event> next_event();

    // What a statement has found of a claim. It was sent then.
    void found(core::claim_id id, const row& what, core::time_point sent, core::time_point now);
    // It was given the resource while it waited.
    void turn(core::claim_id id, token_block tokens, core::time_point now);
    // Others wait for the resource that it holds, or nobody does.
    void others_wait(core::claim_id id, bool they_do);
    // It is to be told when they do.
    void report_others(core::claim_id id);
    // The resource was taken away from this owner.
    void taken(std::string_view owner);
    // Its statement was not executed for this reason, or its row was passed over: again later. A
    // single attempt ends when its time is over.
    void put_off(core::claim_id id, errc why, core::time_point now);
    void failed(core::claim_id id, errc why, core::time_point now);
    // Its statement has no answer: it may have been executed, or may still be. A want may still be
    // executed until then.
    void unanswered(
        core::claim_id id, action what, core::time_point late_until, core::time_point now);

    void refuse(core::claim_id id, errc why, core::time_point now);
    void leave(core::claim_id id, core::time_point now);
    // The database can be used again. Turns and waiters may have been told to nobody.
    void resume();
    // No server can be used.
    void cut_off(errc why, core::time_point now);

    core::time_point wake_at() const noexcept { return claims_.earliest(); }
    void wake(core::time_point now);

private:
    void hold(core::claim_id id, token_block tokens, core::time_point asked, core::time_point now);
    void wait(core::claim_id id, const row& what, core::time_point sent, core::time_point now);
    void not_granted(
        core::claim_id id, const row& what, core::time_point sent, core::time_point now);
    void has_others(core::claim_id id, bool they_wait, core::time_point now);
    void gave_back(core::claim_id id, finding what, core::time_point sent);
    void again_later(core::claim_id id, core::time_point now);
    void park(core::claim_id id);
    void ended(core::claim_id id, bool was_there);
    core::time_point gone_at(const claim& c) const noexcept;

    claim_table& claims_;
    desk& desk_;
    database& database_;
    core::jitter jitter_;
    look_schedule looks_;
    core::ring<core::backend_event> events_;
};

} // namespace holdfast::sql
