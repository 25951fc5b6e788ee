// A primary that dies, and its standby, which is promoted.
#include "integration/postgresql/store.hpp"

#include <optional>
#include <string>
#include <thread>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(postgresql_standby)

// A primary, and a standby that streams from it. Each commit waits until the standby has it.
struct pair_of_servers {
    std::optional<postgres_server> primary{postgres_options{.listens = true}};
    postgres_server standby{{.listens = true, .primary = &*primary}};

    pair_of_servers()
    {
        primary->run("ALTER SYSTEM SET synchronous_standby_names = '*'");
        primary->run("SELECT pg_reload_conf()");
        while (primary->run("SELECT count(*) FROM pg_stat_replication "
                            "WHERE sync_state = 'sync'") != "1")
            std::this_thread::sleep_for(10ms);
    }

    // The standby comes first: the one that accepts writes must be found.
    std::string where() const
    {
        return "host=127.0.0.1,127.0.0.1 user=shop dbname=postgres port=" +
               std::to_string(standby.port()) + "," + std::to_string(primary->port()) +
               " target_session_attrs=read-write";
    }

    // The primary dies, and an operator promotes the standby.
    void fail_over()
    {
        primary->kill();
        standby.run("SELECT pg_promote()");
    }
};

scene scene_on(const pair_of_servers& both, std::size_t lockers)
{
    return scene(postgresql(both.where(),
                     {.create_table = true, .reconnect_max = std::chrono::milliseconds(200)}),
        lockers);
}

BOOST_AUTO_TEST_CASE(leases_and_waiters_follow_to_the_promoted_standby)
{
    pair_of_servers both;
    scene s(scene_on(both, 3));
    run(s.io, [](scene& all, pair_of_servers& servers) -> task {
        BOOST_TEST((all.locker().stats().guarantee == guarantee::primary));
        lease held = co_await all.lock(0, brief(30s)).acquire();
        call<lease> waits;
        all.lock(1, brief(30s)).acquire(forever, waits.token());
        co_await pause(300ms);

        servers.fail_over();
        co_await confirmed(held);
        lease none = co_await all.lock(2, brief(30s)).try_acquire();
        BOOST_TEST(!none);
        BOOST_TEST(!waits.done());

        const auto token = held.fence().value();
        co_await held.release();
        while (!waits.done())
            co_await pause(1ms);
        BOOST_TEST(!waits.error(), waits.error().message());
        BOOST_TEST(waits.result<lease>().fence().value() > token);
        waits.result<lease>() = lease();
        BOOST_TEST(all.locker(0).stats().lost == 0u);
    }(s, both));
    s.finish();
    BOOST_TEST(used_rows(both.standby) == "0");
}

BOOST_AUTO_TEST_CASE(a_critical_section_is_passed_by_one_at_a_time_during_a_fail_over)
{
    pair_of_servers both;
    scene s(scene_on(both, 3));
    critical_section section;
    bool over = false;
    const auto pass = [](critical_section& where, holdfast::lock lock, bool& end) -> task {
        while (!end)
            co_await where.pass(lock, 1);
    };
    std::vector<task> all;
    all.push_back([](pair_of_servers& servers, critical_section& where, bool& end) -> task {
        while (where.passed < 10)
            co_await pause(1ms);
        servers.fail_over();
        const int before = where.passed;
        while (where.passed < before + 10)
            co_await pause(1ms);
        end = true;
    }(both, section, over));
    for (std::size_t i = 0; i < 3; ++i)
        all.push_back(pass(section, s.lock(i, brief(30s)), over));
    run(s.io, std::move(all));
    s.finish();
    BOOST_TEST(used_rows(both.standby) == "0");
}

// A new connection knows the setting before commits obey it: they do when the checkpointer has read
// it. Returns when a commit waits.
task a_commit_waits(scene& s, const postgres_server& server)
{
    const std::string waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    const auto deadline = steady::now() + hang_limit;
    bool waits = false;
    for (int i = 0; !waits; ++i) {
        BOOST_REQUIRE(steady::now() < deadline);
        const lock fresh(s.locker(), s.resource + ":" + std::to_string(i)); // writes a row
        call<lease> attempt;
        fresh.try_acquire(attempt.token());
        while (!attempt.done()) {
            waits = waits || server.run(waiting) != "0";
            co_await pause(1ms);
        }
    }
}

// Commits wait for a standby that is gone, also when their connections have ended. The processes
// that wait are ended: otherwise the server would soon accept no connections any more.
BOOST_AUTO_TEST_CASE(commits_that_wait_for_a_lost_standby_do_not_use_up_the_connections)
{
    const postgres_server server;
    const std::chrono::milliseconds short_time{200};
    scene s(postgresql(server.where(), {.create_table = true,
                                           .request_timeout = short_time,
                                           .connect_timeout = short_time,
                                           .reconnect_max = std::chrono::milliseconds(50)}));
    const auto wait_for = [&](const std::string& standbys) {
        server.run("ALTER SYSTEM SET synchronous_standby_names = '" + standbys + "'");
        server.run("SELECT pg_reload_conf()");
        while (server.run("SHOW synchronous_standby_names") != standbys)
            std::this_thread::sleep_for(1ms); // the server reads its settings a little later
    };
    const std::string processes = "SELECT count(*) FROM pg_stat_activity "
                                  "WHERE application_name = 'holdfast'";
    critical_section section;
    run(s.io, section.pass(s.lock(0), 1));
    wait_for("nobody");
    run(s.io, a_commit_waits(s, server));
    run(s.io, [](scene& all) -> task {
        const auto begun = steady::now();
        for (int i = 0; steady::now() - begun < 3s; ++i) {
            const lock each(all.locker(), all.resource + std::to_string(i)); // each writes a row
            const auto [ec, none] = co_await each.try_acquire(no_throw);
            BOOST_TEST(ec == errc::unreachable, ec.message());
        }
    }(s));
    BOOST_TEST(std::stoi(server.run(processes)) <= 3);
    wait_for("");
    run(s.io, section.pass(s.lock(0), 1));
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_standby_alone_is_told)
{
    pair_of_servers both;
    const auto made = try_with(both.standby.where());
    BOOST_TEST(made.error == errc::misconfigured_node, made.error.message());
    BOOST_TEST(made.nodes.find("read-only: a standby") != std::string::npos, made.nodes);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
