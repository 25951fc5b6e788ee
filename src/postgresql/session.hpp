#pragma once

#include "postgresql/statements.hpp"
#include "sql/connection.hpp"
#include "sql/exchange.hpp"
#include "sql/result.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::postgresql_store {

// What the library is to send.
struct query {
    enum class kind : std::uint8_t {
        plain,    // one or more commands, without parameters
        once,     // one command with parameters
        prepare,  // under `name`
        prepared, // the statement `name`, with parameters
    };
    kind how{};
    std::string name{}, text{};
    std::vector<std::string> parameters{};
};

// A process at the server, which serves one connection. Numbers of processes come again.
struct server_process {
    std::int64_t number = 0, began = 0; // in microseconds
};

struct session_settings {
    std::string table;
    std::string channel; // this locker listens there
    bool create_table = false, allow_asynchronous_commit = false;
    core::duration longest_statement{};
};

// One connection, from the greeting on: what is sent next, and what answers mean. Pure: it has no
// socket. The greeting finds out whether the server can be used, whether a pooler is between, and
// whether notifications arrive.
class session {
public:
    // All of these outlive it.
    session(const session_settings& settings, const statements& texts, sql::session_owner& owner);

    // Connected, to a process with this number, as the connection says. `left`: processes of
    // earlier connections to this server, to be ended if they are still at work.
    void begin(int process, std::vector<server_process> left);
    // The connection is gone.
    void end() noexcept;

    // Greeted, and without a statement.
    bool is_ready() const noexcept { return step_ == step::ready; }
    // A statement is to be sent. Precondition: is_ready().
    void send(const sql::statement& what);
    void ask(const sql::question& what);
    // The process that executes a query now, if that is known. Without its connection it may go on
    // for ever: a commit waits for a standby.
    std::optional<server_process> at_work() const noexcept;
    // Whether waiters of this connection are told about their turn.
    bool is_told() const noexcept { return told_; }

    // The query to send now; none if there is none. It is under way from then on.
    std::optional<query> next_query(core::time_point now);
    bool has_query() const noexcept { return query_.has_value(); }

    void on_result(const sql::result& table);
    void on_error(std::string_view state, std::string text);
    void on_notification(std::string_view text, core::time_point now);
    // The query under way has ended, after its results.
    void on_end(core::time_point now);

private:
    enum class step : std::uint8_t {
        none,
        facts,
        processes,
        create,
        settings,
        listen,
        probe, // whether the user has the rights that are needed
        ready,
        preparing, // the statement that is to be sent then is in `after_`
        executing,
        asking,
    };

    void end_with_error(core::time_point now);
    void judge_facts(core::time_point now);
    void begin_settings(bool commit_synchronously);
    void begin_listening();
    void begin_probe();
    void ask_facts();
    void ask_about_processes();
    void ask(step next, query what);
    void fail(errc why, std::string text, core::time_point now);

    const session_settings& settings_;
    const statements& texts_;
    sql::session_owner& owner_;
    step step_ = step::none;
    std::optional<query> query_, after_;
    std::set<std::string> prepared_;
    std::optional<sql::failure> error_;
    std::optional<sql::answer> answer_;
    std::optional<sql::reply> reply_;
    bool unreadable_ = false; // the result was none that such a query has

    // What the greeting has found.
    struct facts {
        std::int64_t process = 0, clock = 0;
        bool read_only = false, asynchronous = false, has_table = false, has_key = false;
    };
    std::optional<facts> facts_;
    int process_ = 0;
    std::vector<server_process> left_;
    std::optional<server_process> own_; // the process of this connection
    core::time_point asked_{};
    bool pooled_ = false, heard_ = false, told_ = true, tried_to_create_ = false,
         knows_processes_ = false;
    std::string create_error_;

    sql::action what_{};
    sql::question::kind asked_about_{};
    std::size_t entries_ = 0;
};

} // namespace holdfast::postgresql_store
