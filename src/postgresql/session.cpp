#include "postgresql/session.hpp"

#include "postgresql/encoding.hpp"
#include "postgresql/sqlstate.hpp"
#include "sql/reading.hpp"
#include "sql/text.hpp"

#include <chrono>
#include <utility>

namespace holdfast::postgresql_store {

using core::time_point;
using remedy = sql::failure::remedy;

namespace {

constexpr std::string_view greeting = "hello";

constexpr const char* statement_names[sql::actions][2] = {
    {"holdfast_give_back_passing", "holdfast_give_back"},
    {"holdfast_renew_passing", "holdfast_renew"},
    {"holdfast_watch", "holdfast_watch"},
    {"holdfast_want_passing", "holdfast_want"},
};

} // namespace

session::session(
    const session_settings& settings, const statements& texts, sql::session_owner& owner)
    : settings_(settings),
      texts_(texts),
      owner_(owner)
{}

void session::begin(int process, std::vector<server_process> left)
{
    end();
    process_ = process;
    left_ = std::move(left);
    told_ = true;
    ask_facts();
}

void session::end() noexcept
{
    step_ = step::none;
    query_.reset();
    after_.reset();
    prepared_.clear();
    error_.reset();
    answer_.reset();
    reply_.reset();
    facts_.reset();
    own_.reset();
    create_error_.clear();
    unreadable_ = pooled_ = heard_ = tried_to_create_ = knows_processes_ = false;
}

void session::send(const sql::statement& what)
{
    what_ = what.what;
    entries_ = what.entries.size();
    const bool waits = what.waits && !pooled_; // no limit is set there on how long it waits
    const std::string& text = texts_.of(what.what, waits);
    std::vector<std::string> parameters = parameters_of(what);
    if (pooled_)
        return ask(step::executing,
            {.how = query::kind::once, .text = text, .parameters = std::move(parameters)});
    const std::string name = statement_names[static_cast<std::size_t>(what.what)][waits ? 1 : 0];
    query execute{.how = query::kind::prepared, .name = name, .parameters = std::move(parameters)};
    if (prepared_.contains(name))
        return ask(step::executing, std::move(execute));
    after_ = std::move(execute);
    ask(step::preparing, {.how = query::kind::prepare, .name = name, .text = text});
}

// Too rare to be prepared.
void session::ask(const sql::question& what)
{
    asked_about_ = what.what;
    ask(step::asking, {.how = query::kind::once,
                          .text = texts_.of(what.what, what.waits && !pooled_),
                          .parameters = parameters_of(what)});
}

std::optional<server_process> session::at_work() const noexcept
{
    const bool works = step_ != step::none && step_ != step::ready && !query_;
    return works ? own_ : std::nullopt;
}

std::optional<query> session::next_query(time_point now)
{
    if (step_ == step::facts)
        asked_ = now;
    return std::exchange(query_, std::nullopt);
}

void session::on_result(const sql::result& table)
{
    if (step_ == step::executing || step_ == step::probe) {
        answer_ = sql::answer_in(step_ == step::probe ? sql::action::want : what_,
            step_ == step::probe ? 0 : entries_, table);
        unreadable_ = !answer_;
    } else if (step_ == step::asking) {
        reply_ = sql::reply_in(asked_about_, table);
        unreadable_ = !reply_;
    } else if (step_ == step::facts) {
        unreadable_ = table.rows() != 1 || table.columns() != 6;
        if (unreadable_)
            return;
        const auto is_true = [&table](std::size_t column) {
            return table.text(0, column) == "t";
        };
        facts_ = facts{.process = sql::number_in(table.text(0, 0)).value_or(0),
            .clock = sql::number_in(table.text(0, 5)).value_or(0),
            .read_only = is_true(1),
            .asynchronous = is_true(2),
            .has_table = is_true(3),
            .has_key = is_true(4)};
    } else if (step_ == step::processes && table.columns() == 3) {
        for (std::size_t i = 0; i < table.rows(); ++i) {
            const auto number = sql::number_in(table.text(i, 0));
            const auto began = sql::number_in(table.text(i, 1));
            if (number == process_ && began)
                own_ = {*number, *began};
        }
    }
}

void session::on_error(std::string_view state, std::string text)
{
    if (!error_)
        error_ = failure_of(state, std::string(state) + ": " + sql::one_line(text));
}

void session::on_notification(std::string_view text, time_point now)
{
    if (text == greeting)
        heard_ = true;
    else if (const auto turn = turn_in(text))
        owner_.on_turn(turn->owner, turn->tokens, now);
    else if (const auto loss = loss_in(text))
        owner_.on_taken(loss->owner, loss->address, now);
    else if (const auto owner = told_in(text))
        owner_.on_told(*owner);
    else if (text.ends_with(sql::watching))
        owner_.on_waiters(text);
}

void session::on_end(time_point now)
{
    if (query_ || step_ == step::none || step_ == step::ready)
        return; // nothing was under way
    if (unreadable_ || (step_ == step::executing && !error_ && !answer_) ||
        (step_ == step::asking && !error_ && !reply_))
        return fail(errc::protocol_error, "an answer that no such query has", now);
    if (step_ == step::processes)
        error_.reset(); // this user may not see or end them
    if (step_ == step::create && error_) {
        // Another process may have made the table at the same time: see whether it is there.
        create_error_ = ": " + error_->text;
        error_.reset();
    }
    if (error_)
        return end_with_error(now);
    switch (step_) {
    case step::facts:
        pooled_ = facts_->process != process_;
        if (!pooled_ && !std::exchange(knows_processes_, true))
            return ask_about_processes();
        return judge_facts(now);
    case step::processes:
        return judge_facts(now);
    case step::create:
        return ask_facts();
    case step::settings:
        return begin_listening();
    case step::listen:
        return begin_probe();
    case step::probe:
        told_ = heard_;
        answer_.reset();
        step_ = step::ready;
        return owner_.on_ready(facts_->clock, asked_, now);
    case step::preparing:
        prepared_.insert(after_->name);
        return ask(step::executing, *std::exchange(after_, std::nullopt));
    case step::executing: {
        step_ = step::ready;
        const sql::answer found = *std::exchange(answer_, std::nullopt);
        return owner_.on_answer(found, now);
    }
    case step::asking: {
        step_ = step::ready;
        const sql::reply found = *std::exchange(reply_, std::nullopt);
        return owner_.on_reply(found, now);
    }
    case step::none:
    case step::ready:
        return;
    }
}

void session::end_with_error(time_point now)
{
    sql::failure why = *std::exchange(error_, std::nullopt);
    const bool greeted =
        step_ == step::preparing || step_ == step::executing || step_ == step::asking;
    if (greeted)
        step_ = step::ready;
    else
        why.what = remedy::reconnect; // the greeting cannot go on
    after_.reset();
    owner_.on_failure(why, now);
}

void session::judge_facts(time_point now)
{
    const facts& found = *facts_;
    if (found.read_only)
        return fail(errc::misconfigured_node, "the server is read-only: a standby, perhaps", now);
    if (!found.has_table && settings_.create_table && !std::exchange(tried_to_create_, true))
        return ask(step::create, {.how = query::kind::plain, .text = texts_.create()});
    if (!found.has_table)
        return fail(
            errc::misconfigured_node, "there is no table " + settings_.table + create_error_, now);
    if (!found.has_key)
        return fail(errc::misconfigured_node,
            "the table " + settings_.table + " has no UNIQUE (resource, token_end)", now);
    const bool too_weak = found.asynchronous && !settings_.allow_asynchronous_commit;
    if (too_weak && pooled_)
        return fail(errc::misconfigured_node, "synchronous_commit is off", now);
    if (pooled_) {
        told_ = false;
        return begin_probe();
    }
    begin_settings(too_weak);
}

// Of this connection alone. The statements look rows up by their key, however many there are, and
// are planned once.
void session::begin_settings(bool commit_synchronously)
{
    const auto limit =
        std::chrono::ceil<std::chrono::milliseconds>(settings_.longest_statement).count();
    std::string text = "SET lock_timeout = '20ms'; SET statement_timeout = '" +
                       std::to_string(limit) +
                       "ms'; SET default_transaction_isolation = 'read committed'; "
                       "SET enable_seqscan = off; SET enable_hashjoin = off; "
                       "SET enable_mergejoin = off; SET jit = off; "
                       "SET plan_cache_mode = force_generic_plan";
    if (commit_synchronously)
        text += "; SET synchronous_commit = on";
    ask(step::settings, {.how = query::kind::plain, .text = std::move(text)});
}

void session::begin_listening()
{
    ask(step::listen, {.how = query::kind::plain,
                          .text = "LISTEN " + settings_.channel + "; SELECT pg_notify('" +
                                  settings_.channel + "', '" + std::string(greeting) + "')"});
}

// A statement for no resource at all needs the same rights.
void session::begin_probe()
{
    ask(step::probe, {.how = query::kind::once,
                         .text = texts_.of(sql::action::want, false),
                         .parameters = parameters_of({.what = sql::action::want})});
}

void session::ask_facts()
{
    ask(step::facts,
        {.how = query::kind::once, .text = texts_.facts(), .parameters = {settings_.table}});
}

void session::ask_about_processes()
{
    std::string numbers = "{", begins = "{";
    for (const server_process& each : left_) {
        numbers += (numbers.size() > 1 ? "," : "") + std::to_string(each.number);
        begins += (begins.size() > 1 ? "," : "") + std::to_string(each.began);
    }
    const auto limit =
        std::chrono::ceil<std::chrono::milliseconds>(settings_.longest_statement * 2).count();
    ask(step::processes, {.how = query::kind::once,
                             .text = texts_.processes(),
                             .parameters = {numbers + "}", begins + "}", std::to_string(limit)}});
}

void session::ask(step next, query what)
{
    step_ = next;
    query_ = std::move(what);
}

// The connection cannot be used.
void session::fail(errc why, std::string text, time_point now)
{
    step_ = step::none;
    owner_.on_failure({why, remedy::reconnect, std::move(text)}, now);
}

} // namespace holdfast::postgresql_store
