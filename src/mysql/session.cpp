#include "mysql/session.hpp"

#include "mysql/error_code.hpp"
#include "sql/reading.hpp"
#include "sql/text.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::mysql_store {

using core::time_point;
using remedy = sql::failure::remedy;

namespace {

// The longest statement that the desk makes is shorter.
constexpr std::int64_t shortest_limit = 6'000'000;
constexpr std::string_view keys = "PRIMARY.resource,guard.resource,guard.token,guard.token_end";
constexpr std::string_view keys_in_other_order =
    "guard.resource,guard.token,guard.token_end,PRIMARY.resource";

} // namespace

session::session(
    const session_settings& settings, const statements& texts, sql::session_owner& owner)
    : settings_(settings),
      texts_(texts),
      owner_(owner)
{}

void session::begin()
{
    end();
    ask(step::settings, settings_text(settings_.longest_statement));
}

void session::end() noexcept
{
    step_ = step::none;
    query_.reset();
    error_.reset();
    answer_.reset();
    reply_.reset();
    facts_.reset();
    tried_to_create_ = false;
    create_error_.clear();
}

// No statement waits for rows, so the wish to wait a little is not heeded. Short statements come
// first: most resources have no waiters, and most others somebody. Waiters look for their turn many
// times in vain, so that is done by a query that only reads.
void session::send(const sql::statement& what)
{
    what_ = what.what;
    entries_ = what.entries.size();
    const auto none_is = [&what](bool sql::entry::*so) {
        return std::none_of(what.entries.begin(), what.entries.end(),
            [so](const sql::entry& each) { return each.*so; });
    };
    const bool wants = what_ == sql::action::want && !what.entries.empty();
    const bool waits = wants && !none_is(&sql::entry::waits);
    to_try_ = {texts_.of(what)}; // the last one first
    const auto try_before = [this](std::string text) {
        if (!text.empty())
            to_try_.push_back(std::move(text));
    };
    try_before(texts_.in_queue(what));
    if (wants && none_is(&sql::entry::queues))
        try_before(texts_.look_of(what));
    std::string lonely = waits ? std::string() : texts_.alone(what);
    is_lonely_ = !lonely.empty() && lonely_tries_.may_try();
    if (is_lonely_)
        try_before(std::move(lonely));
    go_on();
}

void session::go_on()
{
    std::string next = std::move(to_try_.back());
    to_try_.pop_back();
    ask(to_try_.empty() ? step::executing : step::trying, std::move(next));
}

void session::ask(const sql::question& what)
{
    asked_about_ = what.what;
    ask(step::asking, texts_.of(what));
}

std::optional<std::string> session::next_query(time_point now)
{
    if (step_ == step::facts)
        asked_ = now;
    return std::exchange(query_, std::nullopt);
}

void session::on_result(const sql::result& table)
{
    switch (step_) {
    case step::trying:
    case step::executing:
        answer_ = sql::answer_in(what_, entries_, table);
        return;
    case step::probe:
        answer_ = sql::answer_in(sql::action::want, 0, table);
        return;
    case step::asking:
        reply_ = sql::reply_in(asked_about_, table);
        return;
    case step::facts:
        return read_facts(table);
    default:
        return;
    }
}

void session::read_facts(const sql::result& table)
{
    facts_.reset();
    if (table.rows() != 1 || table.columns() != 7)
        return;
    const auto longest = sql::number_in(table.text(0, 2)), clock = sql::number_in(table.text(0, 6));
    if (!longest || !clock)
        return;
    const std::string_view found = table.text(0, 4);
    facts_ = facts{.read_only = table.text(0, 0) != "0",
        .asynchronous = table.text(0, 1) != "0",
        .has_table = table.text(0, 3) != "0",
        .has_keys = found == keys || found == keys_in_other_order,
        .longest_query = *longest,
        .clock = *clock,
        .engine = std::string(table.text(0, 5))};
}

void session::on_error(unsigned number, const std::string& text)
{
    if (!error_)
        error_ = failure_of(number, std::to_string(number) + ": " + sql::one_line(text));
}

void session::on_end(time_point now)
{
    if (query_ || step_ == step::none || step_ == step::ready)
        return; // nothing was under way
    if (step_ == step::create && error_) {
        // Another process may have made the table at the same time: see whether it is there.
        create_error_ = ": " + error_->text;
        error_.reset();
    }
    if (error_)
        return end_with_error(now);
    const bool unread =
        (step_ == step::facts && !facts_) ||
        ((step_ == step::trying || step_ == step::executing || step_ == step::probe) && !answer_) ||
        (step_ == step::asking && !reply_);
    if (unread)
        return fail(errc::protocol_error, "an answer that no such query has", now);
    switch (step_) {
    case step::settings:
    case step::create:
        return ask(step::facts, texts_.facts());
    case step::facts:
        return judge_facts(now);
    case step::probe:
        answer_.reset();
        step_ = step::ready;
        return owner_.on_ready(facts_->clock, asked_, now);
    case step::trying:
        if (std::any_of(answer_->rows.begin(), answer_->rows.end(),
                [](const sql::row& each) { return each.what == sql::finding::locked; })) {
            if (std::exchange(is_lonely_, false))
                lonely_tries_.was_in_vain();
            answer_.reset();
            return go_on();
        }
        if (is_lonely_)
            lonely_tries_.was_enough();
        [[fallthrough]];
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
    answer_.reset();
    reply_.reset();
    // Its commands commit one by one: perhaps only the last one had to wait for the table.
    if (step_ == step::asking && asked_about_ == sql::question::kind::take &&
        why.what == remedy::pass_over)
        why.what = remedy::later;
    if (step_ == step::trying || step_ == step::executing || step_ == step::asking)
        step_ = step::ready;
    else
        why.what = remedy::reconnect; // the greeting cannot go on
    owner_.on_failure(why, now);
}

void session::judge_facts(time_point now)
{
    const facts& found = *facts_;
    const std::string table = "the table " + settings_.table;
    if (found.read_only)
        return fail(errc::misconfigured_node, "the server is read-only: a replica, perhaps", now);
    if (found.asynchronous && !settings_.allow_asynchronous_commit)
        return fail(errc::misconfigured_node,
            "commits may be lost: innodb_flush_log_at_trx_commit, or sync_binlog, is not 1", now);
    if (found.longest_query < shortest_limit)
        return fail(errc::misconfigured_node, "max_allowed_packet is less than 6 MB", now);
    if (!found.has_table && settings_.create_table && !std::exchange(tried_to_create_, true))
        return ask(step::create, texts_.create());
    if (!found.has_table)
        return fail(errc::misconfigured_node,
            "there is no table " + settings_.table + ", or no right to it" + create_error_, now);
    if (found.engine != "InnoDB")
        return fail(errc::misconfigured_node, table + " is not one of InnoDB", now);
    if (!found.has_keys)
        return fail(errc::misconfigured_node,
            table + " lacks its PRIMARY KEY (resource), or UNIQUE KEY guard (resource, token, "
                    "token_end)",
            now);
    // A statement for no resource at all needs the same rights.
    ask(step::probe, texts_.of({.what = sql::action::want}));
}

void session::ask(step next, std::string query)
{
    step_ = next;
    query_ = std::move(query);
}

// The connection cannot be used.
void session::fail(errc why, std::string text, time_point now)
{
    step_ = step::none;
    owner_.on_failure({why, remedy::reconnect, std::move(text)}, now);
}

} // namespace holdfast::mysql_store
