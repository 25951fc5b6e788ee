#pragma once

#include "support/sql_model.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::test {

/// One connection to the modelled table. Its user decides when it opens, when a statement is
/// executed and answered, and when it breaks.
class model_database final : public sql::database {
public:
    model_database(sql_model& table, std::string channel)
        : model_(table),
          channel_(std::move(channel))
    {}

    void serve(sql::database_owner& owner) noexcept override { owner_ = &owner; }
    bool is_up() const noexcept override { return up_; }
    void send(const sql::statement& what, core::time_point) override { sent_.emplace(what); }
    void ask(const sql::question& what, core::time_point) override { asked_.emplace(what); }
    void fail(errc why, std::string, core::time_point now) override
    {
        ++failures;
        last_failure = why;
        disconnect(now);
    }
    std::string_view address() const noexcept override { return channel_; }
    errc cut_off() const noexcept override { return up_ ? errc{} : cut_off_; }
    core::time_point wake_at() const noexcept override { return core::never; }
    void wake(core::time_point) override {}
    void close(core::time_point) override { up_ = false; }
    void report_to(core::journal&) noexcept override {}
    std::vector<node_stats> stats() const override { return {}; }
    std::string name_of(std::size_t) const override { return "model"; }

    void connect(core::time_point now)
    {
        up_ = true;
        cut_off_ = errc{};
        owner_->on_up(model_.clock, now, now);
        flush(now);
    }
    /// The connection is lost. Returns the statement that was under way and was not executed.
    std::optional<kept_statement> disconnect(core::time_point now)
    {
        auto left = std::exchange(sent_, std::nullopt);
        if (result_)
            left.reset();
        result_.reset();
        asked_.reset();
        if (std::exchange(up_, false))
            owner_->on_down(now);
        return left;
    }
    void cut_off(errc why, core::time_point now)
    {
        disconnect(now);
        cut_off_ = why;
        owner_->on_cut_off(why, now);
    }
    void flush(core::time_point now)
    {
        if (up_ && !sent_ && !asked_ && owner_->has_statement())
            owner_->send_statement(now);
    }
    const std::optional<kept_statement>& under_way() const noexcept { return sent_; }
    const std::optional<kept_question>& asked() const noexcept { return asked_; }
    /// The question is answered. Precondition: one is under way.
    void reply(core::time_point now)
    {
        const auto found = model_.execute(std::exchange(asked_, std::nullopt)->get());
        if (const auto* const failed = std::get_if<sql::failure>(&found))
            owner_->on_failure(*failed, now);
        else
            owner_->on_reply(std::get<sql::reply>(found), now);
    }
    bool is_executed() const noexcept { return result_.has_value(); }
    void execute() { result_ = model_.execute(sent_->get()); }
    /// Precondition: it was executed.
    void answer(core::time_point now)
    {
        sent_.reset();
        const auto found = *std::exchange(result_, std::nullopt);
        if (const auto* const failed = std::get_if<sql::failure>(&found))
            owner_->on_failure(*failed, now);
        else
            owner_->on_answer(std::get<sql::answer>(found), now);
    }
    /// The server refuses the statement or question under way.
    void refuse(const sql::failure& why, core::time_point now)
    {
        sent_.reset();
        asked_.reset();
        owner_->on_failure(why, now);
    }
    void tell(const sql_model::turn& turn, core::time_point now)
    {
        if (up_)
            owner_->on_turn(turn.owner, turn.tokens, now);
    }
    /// Others wait for the resource of this owner.
    void tell_waiters(const std::string& owner)
    {
        if (up_)
            owner_->on_waiters(owner);
    }
    void tell_loss(const sql_model::loss& loss, core::time_point now)
    {
        if (up_)
            owner_->on_taken(loss.owner, loss.address, now);
    }
    void tell_heard(const std::string& owner)
    {
        if (up_)
            owner_->on_told(owner);
    }
    void tell_nobody() { channel_.clear(); }

    int failures = 0;
    errc last_failure{};

private:
    sql_model& model_;
    std::string channel_;
    sql::database_owner* owner_ = nullptr;
    std::optional<kept_statement> sent_;
    std::optional<kept_question> asked_;
    std::optional<std::variant<sql::answer, sql::failure>> result_;
    errc cut_off_{};
    bool up_ = false;
};

} // namespace holdfast::test
