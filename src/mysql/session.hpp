#pragma once

#include "mysql/statements.hpp"
#include "sql/connection.hpp"
#include "sql/result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::mysql_store {

struct session_settings {
    std::string table;
    bool create_table = false, allow_asynchronous_commit = false;
    core::duration longest_statement{};
};

// Whether a statement is tried that does where nobody queues. After each one in vain up to 15 are
// left out.
class lonely_tries {
public:
    bool may_try() noexcept
    {
        if (left_out_ == 0)
            return true;
        --left_out_;
        return false;
    }
    void was_enough() noexcept { pause_ = 0; }
    void was_in_vain() noexcept { left_out_ = pause_ = std::min(2 * pause_ + 1, 15u); }

private:
    unsigned pause_ = 0, left_out_ = 0;
};

// One connection, from the greeting on: what is sent next, and what answers mean. Pure: it has no
// socket. The greeting finds out whether the server can be used.
class session {
public:
    // All of these outlive it.
    session(const session_settings& settings, const statements& texts, sql::session_owner& owner);

    // Connected.
    void begin();
    // The connection is gone.
    void end() noexcept;

    // Greeted, and without a statement.
    bool is_ready() const noexcept { return step_ == step::ready; }
    // A statement is to be sent. Precondition: is_ready().
    void send(const sql::statement& what);
    void ask(const sql::question& what);

    // The query to send now; none if there is none. It is under way from then on.
    std::optional<std::string> next_query(core::time_point now);
    bool has_query() const noexcept { return query_.has_value(); }

    // One of the results of the query under way. The last one counts.
    void on_result(const sql::result& table);
    void on_error(unsigned number, const std::string& text);
    // The query under way has ended, after its results.
    void on_end(core::time_point now);

private:
    enum class step : std::uint8_t {
        none,
        settings,
        facts,
        create,
        probe, // whether the user has the rights that are needed
        ready,
        trying, // whether a cheaper statement is enough
        executing,
        asking,
    };
    // What the greeting has found.
    struct facts {
        bool read_only = false, asynchronous = false, has_table = false, has_keys = false;
        std::int64_t longest_query = 0, clock = 0;
        std::string engine{};
    };

    void read_facts(const sql::result& table);
    void end_with_error(core::time_point now);
    void judge_facts(core::time_point now);
    void ask(step next, std::string query);
    void go_on();
    void fail(errc why, std::string text, core::time_point now);

    const session_settings& settings_;
    const statements& texts_;
    sql::session_owner& owner_;
    step step_ = step::none;
    std::optional<std::string> query_;
    // What follows if the statement under way is in vain, the next one at the end. The first one is
    // complete, and never in vain.
    std::vector<std::string> to_try_;
    lonely_tries lonely_tries_;
    bool is_lonely_ = false; // the one under way
    std::optional<sql::failure> error_;
    std::optional<sql::answer> answer_;
    std::optional<sql::reply> reply_;
    std::optional<facts> facts_;
    core::time_point asked_{};
    bool tried_to_create_ = false;
    std::string create_error_;

    sql::action what_{};
    sql::question::kind asked_about_{};
    std::size_t entries_ = 0;
};

} // namespace holdfast::mysql_store
