#pragma once

#include "sql/database.hpp"
#include "support/sql_model.hpp"
#include "verification/recipes/process.hpp"

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::sql_simulation {

using namespace std::chrono_literals;
using core::duration;
using core::time_point;
using recipe_simulation::process;
using recipe_simulation::world;

// How often and how badly things go wrong.
struct troubles {
    double lost_statement = 0;    // it breaks the connection, and never arrives
    double late_statement = 0;    // the connection breaks; it is executed seconds later
    double lost_answer = 0;       // the connection breaks after the execution
    double late_answer = 0;       // by up to two seconds, and all that follows
    double lost_notification = 0; // although the connection stays
    double error = 0;             // the server refuses the statement
    double refused = 0;           // no connection
    duration slowest = 2ms;       // of a message, and of an execution
};

// The database: the modelled table, and its own clock.
class database_server {
public:
    explicit database_server(world& w);

    time_point thaws_at() const noexcept { return thaws_at_; }
    // Executes nothing for so long.
    void freeze(duration length);
    // Its clock is set back.
    void set_clock_back(duration by);
    // A fail-over to a standby that is behind.
    void remember();
    void forget();
    // A transaction of another program locks a row for a while.
    void lock_row(const std::string& resource, test::sql_model::lock how, duration length);

    std::variant<sql::answer, sql::failure> execute(const test::kept_statement& what);
    // The clock now.
    std::int64_t clock();
    bool was_set() const noexcept { return was_set_; }

    test::sql_model model;
    troubles trouble;

private:
    world& world_;
    const double rate_;
    std::int64_t back_ = 0; // microseconds
    bool was_set_ = false;
    time_point thaws_at_{};
    std::map<std::string, test::sql_model::resource> standby_;
};

// A connection of a process, with delays. Answers and notifications keep their order.
class connection final : public sql::database {
public:
    connection(world& w, database_server& server, process& runs, std::string channel, bool told);

    void serve(sql::database_owner& owner) noexcept override { owner_ = &owner; }
    bool is_up() const noexcept override { return up_; }
    void send(const sql::statement& what, time_point now) override;
    // People look at nothing here.
    void ask(const sql::question&, time_point) override { std::abort(); }
    void fail(errc why, std::string reason, time_point now) override;
    std::string_view address() const noexcept override
    {
        return told_ ? channel_ : std::string_view();
    }
    errc cut_off() const noexcept override { return up_ ? errc{} : cut_off_; }
    time_point wake_at() const noexcept override { return core::never; }
    void wake(time_point) override {}
    void close(time_point) override { up_ = false; }
    void report_to(core::journal&) noexcept override {}
    std::vector<node_stats> stats() const override { return {}; }
    std::string name_of(std::size_t) const override { return "server"; }

    void begin();
    // What has gathered is sent.
    void flush(time_point now);
    bool listens(const std::string& owner) const;
    void notify(const test::sql_model::turn& turn);
    // The server ends it.
    void break_off();
    bool is_over() const noexcept { return over_; }
    void end() noexcept { over_ = true; }

    // To be called after each call of the owner, in the process.
    std::function<void()> on_turn_end;
    // To be called when the server has executed something.
    std::function<void()> on_executed;

private:
    void execute(const test::kept_statement& what, std::uint64_t of);
    // In order, if the connection is the same then.
    void deliver(std::function<void()> what);
    void disconnect();

    world& world_;
    database_server& server_;
    process& process_;
    const std::string channel_;
    const bool told_;
    sql::database_owner* owner_ = nullptr;
    bool up_ = false, busy_ = false, over_ = false;
    errc cut_off_{};
    std::uint64_t incarnation_ = 0;
    time_point last_delivery_{};
};

} // namespace holdfast::sql_simulation
