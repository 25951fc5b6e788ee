#pragma once

#include "sql/course.hpp"
#include "sql/lookups.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sql {

// Takes what the database tells to the claims.
class answers final : public database_owner {
public:
    // All of these outlive it.
    answers(claim_table& claims, desk& statements, course& decisions, lookups& questions) noexcept
        : claims_(claims),
          desk_(statements),
          course_(decisions),
          lookups_(questions)
    {}

    void on_up(std::int64_t clock, core::time_point asked, core::time_point now) override
    {
        desk_.clock().note(clock, asked, now, true);
        course_.resume();
    }
    void on_down(core::time_point now) override
    {
        lookups_.disconnected();
        auto over = desk_.end_statement();
        if (!over)
            return;
        for (const core::claim_id id : over->claims)
            course_.unanswered(id, over->what, over->late_until, now);
        desk_.reuse(std::move(*over));
    }
    void on_cut_off(errc why, core::time_point now) override
    {
        course_.cut_off(why, now);
        lookups_.cut_off(reason_or_unreachable(why));
    }

    void on_answer(const answer& what, core::time_point now) override
    {
        auto over = desk_.end_statement();
        if (!over)
            return;
        const bool late = std::any_of(what.rows.begin(), what.rows.end(),
            [](const row& each) { return each.what == finding::late; });
        desk_.clock().note(what.clock, over->sent, now, late);
        desk_.grow();
        found_.assign(over->claims.size(), {});
        for (const row& each : what.rows) {
            if (each.entry < found_.size())
                found_[each.entry] = each;
        }
        for (std::size_t i = 0; i < found_.size(); ++i)
            course_.found(over->claims[i], found_[i], over->sent, now);
        desk_.reuse(std::move(*over));
    }
    void on_reply(const reply& what, core::time_point now) override { lookups_.replied(what, now); }
    void on_failure(const failure& why, core::time_point now) override
    {
        if (lookups_.is_under_way())
            return lookups_.failed(why, now);
        auto over = desk_.end_statement();
        if (!over)
            return;
        const bool blocked = why.what == failure::remedy::pass_over;
        // One that was blocked alone, and waits for no row, is tried again later.
        const bool at_once = blocked && (over->waits || over->claims.size() > 1);
        if (blocked && !over->waits)
            desk_.shrink(over->claims.size());
        if (blocked)
            desk_.pass_over_once();
        for (const core::claim_id id : over->claims) {
            if (why.what == failure::remedy::refuse)
                course_.failed(id, why.reason, now);
            else if (!at_once)
                course_.put_off(id, why.reason, now);
            else if (claims_.find(id) != nullptr)
                desk_.list(id);
        }
        desk_.reuse(std::move(*over));
    }
    void on_turn(std::string_view owner, token_block tokens, core::time_point now) override
    {
        if (const core::claim_id id = claims_.named(owner); id != 0)
            course_.turn(id, tokens, now);
    }
    void on_waiters(std::string_view owner) override
    {
        if (const core::claim_id id = claims_.named(owner); id != 0)
            course_.others_wait(id, true);
    }

    void on_taken(std::string_view owner, std::string_view address, core::time_point now) override
    {
        course_.taken(owner);
        if (!address.empty())
            lookups_.owe_answer(owner, address, now);
    }
    void on_told(std::string_view owner) override { lookups_.heard(owner); }

    bool has_statement() const noexcept override
    {
        return !lookups_.is_under_way() &&
               (desk_.has_statement() || (!desk_.is_under_way() && lookups_.has_question()));
    }
    // Locks are delayed by no more than one question at a time.
    void send_statement(core::time_point now) override
    {
        const bool asks = lookups_.has_question();
        if (!asks || asked_last_ || !lookups_.is_urgent(now))
            desk_.send_statement(now);
        asked_last_ = asks && !desk_.is_under_way();
        if (asked_last_)
            lookups_.ask(now);
    }

private:
    claim_table& claims_;
    desk& desk_;
    course& course_;
    lookups& lookups_;
    bool asked_last_ = false;
    std::vector<row> found_;
};

} // namespace holdfast::sql
