// A server, and a connection to it that the test plays.
#include "sql/server.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace std::chrono_literals;
using namespace holdfast;
using remedy = sql::failure::remedy;

namespace {

struct no_socket final : core::descriptor {
    const core::address& target() const noexcept override { return where; }
    bool wants_open() const noexcept override { return false; }
    void open(std::span<const std::string>, core::time_point) override {}
    void closed(error_code, core::time_point) override {}
    int handle() const noexcept override { return -1; }
    std::uint64_t incarnation() const noexcept override { return 0; }
    core::readiness wants() const noexcept override { return core::readiness::none; }
    void ready(core::readiness, core::time_point) override {}
    bool has_output() const noexcept override { return false; }
    void flush(core::time_point) override {}

    core::address where;
};

struct played_connection final : sql::connection {
    bool is_idle() const noexcept override { return idle; }
    void begin(std::size_t) override { idle = false; }
    void end() noexcept override { idle = true; }
    void send(const sql::statement&) override {}
    void ask(const sql::question&) override {}
    std::string_view address() const noexcept override { return {}; }
    core::descriptor& socket() noexcept override { return none; }

    no_socket none;
    bool idle = true;
};

struct one_server : sql::database_owner {
    one_server()
    {
        s.serve(*this);
        connect();
    }
    void on_up(std::int64_t, core::time_point, core::time_point) override { ++up; }
    void on_down(core::time_point) override { ++down; }
    void on_cut_off(errc, core::time_point) override {}
    void on_answer(const sql::answer&, core::time_point) override {}
    void on_reply(const sql::reply&, core::time_point) override {}
    void on_failure(const sql::failure&, core::time_point) override { ++failed; }
    void on_turn(std::string_view, sql::token_block, core::time_point) override {}
    void on_waiters(std::string_view) override {}
    void on_taken(std::string_view, std::string_view, core::time_point) override {}
    void on_told(std::string_view) override {}
    bool has_statement() const noexcept override { return false; }
    void send_statement(core::time_point) override {}

    void connect()
    {
        now += 10s;
        s.wake(now);
        told->on_ready(1, now, now);
    }
    std::uint64_t errors() const { return s.stats().at(0).errors; }

    core::time_point now{100s};
    int up = 0, down = 0, failed = 0;
    sql::connection_owner* told = nullptr;
    sql::server s{
        {.names = {"db"}, .connect_timeout = 2s, .reconnect_min = 50ms, .reconnect_max = 2s},
        [this](sql::connection_owner& owner) {
            told = &owner;
            return std::make_unique<played_connection>();
        },
        1};
};

BOOST_FIXTURE_TEST_SUITE(sql_server, one_server)

BOOST_AUTO_TEST_CASE(only_errors_that_the_server_has_told_are_counted)
{
    BOOST_TEST(up == 1);
    told->on_failure({errc::node_error, remedy::refuse, "disk full", true}, now);
    told->on_failure({errc::contended, remedy::pass_over, "deadlock", true}, now);
    BOOST_TEST(errors() == 2u);
    BOOST_TEST(failed == 2);
    BOOST_TEST(down == 0);
    told->on_failure({errc::unreachable, remedy::reconnect, "connection lost"}, now);
    BOOST_TEST(errors() == 2u);
    BOOST_TEST(down == 1);
    connect();
    BOOST_TEST(up == 2);
    told->on_failure({errc::misconfigured_node, remedy::reconnect, "read-only", true}, now);
    BOOST_TEST(errors() == 3u);
    BOOST_TEST(down == 2);
}

BOOST_AUTO_TEST_CASE(a_connection_that_cannot_be_made_is_no_error_of_a_statement)
{
    told->on_failure({errc::unreachable, remedy::reconnect, "connection lost"}, now);
    now += 10s;
    s.wake(now);
    told->on_failure({errc::overloaded, remedy::reconnect, "too many connections", true}, now);
    BOOST_TEST(errors() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
