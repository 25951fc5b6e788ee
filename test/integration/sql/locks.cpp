// Locks in a real server.
#include "integration/sql/tested_store.hpp"
#include "support/fork.hpp"

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

HOLDFAST_SQL_SUITE(locks)

BOOST_AUTO_TEST_CASE(lockers_exclude_each_other_and_tokens_grow)
{
    const tested_server server;
    take_turns(store_in(server), 4, 4, 25);
    BOOST_TEST(used_rows(server) == "0");
}

BOOST_AUTO_TEST_CASE(many_processes_wait_for_one_lock_and_each_has_its_turn)
{
    const tested_server server({.settings = {"max_connections=100"}});
    take_turns(store_in(server), 40, 40, 3);
    BOOST_TEST(used_rows(server) == "0");
}

task pass_once(holdfast::lock lock, int& passed)
{
    lease held = co_await lock.acquire();
    ++passed;
    co_await held.release();
}

BOOST_AUTO_TEST_CASE(many_locks_are_taken_at_once)
{
    const tested_server server;
    scene s(store_in(server), 2);
    int passed = 0;
    std::vector<task> all;
    const std::string odd("\xff\0'\"\\;{", 7);
    for (std::size_t i = 0; i < 2000; ++i) {
        const std::string name = odd + std::to_string(i / 2);
        all.push_back(pass_once(holdfast::lock(s.locker(i % 2), name, brief(10s)), passed));
    }
    run(s.io, std::move(all));
    BOOST_TEST(passed == 2000);
    s.finish();
    BOOST_TEST(used_rows(server) == "0");
    BOOST_TEST(server.run("SELECT COUNT(*) FROM holdfast_locks") == "1000");
}

BOOST_AUTO_TEST_CASE(the_lock_of_a_killed_process_is_free_after_its_ttl_and_not_before)
{
    const tested_server server({.listens = true});
    for (const auto life : {0ms, 2500ms}) { // before its first renewal, and after several
        child_process holder({HOLDFAST_LOCK_HOLDER, "resource", "3000", for_holder(server)});
        const auto first = holder.read_line();
        BOOST_REQUIRE(!first.empty());
        std::this_thread::sleep_for(life);
        holder.kill();
        const auto killed = steady::now();
        auto last = first;
        for (auto line = first; !line.empty(); line = holder.read_line())
            last = line;
        const steady::time_point valid_until{steady::duration(std::stoll(last))};
        BOOST_TEST((valid_until > killed)); // it was killed while it held the lock
        BOOST_TEST((life == 0ms || last != first));

        scene s(store_in(server));
        run(s.io, [](holdfast::locker& locker) -> task {
            lease held = co_await holdfast::lock(locker, "resource").acquire();
        }(s.locker()));
        BOOST_TEST((steady::now() >= valid_until));
        BOOST_TEST((steady::now() < killed + 3s + 5s));
        s.finish();
    }
}

BOOST_AUTO_TEST_CASE(a_process_that_stands_still_loses_its_lock)
{
    const tested_server server({.listens = true});
    child_process holder({HOLDFAST_LOCK_HOLDER, "resource", "2000", for_holder(server)});
    BOOST_REQUIRE(!holder.read_line().empty());
    holder.pause();
    scene s(store_in(server));
    run(s.io, [](holdfast::locker& locker) -> task {
        lease held = co_await holdfast::lock(locker, "resource").acquire(20s);
        BOOST_TEST(held.held());
    }(s.locker()));
    holder.resume();
    BOOST_TEST(holder.wait() == 0); // it has noticed
    s.finish();
}

// The library of the database says goodbye when a connection is destroyed.
BOOST_AUTO_TEST_CASE(a_forked_child_does_not_end_the_connection_of_its_parent)
{
    const tested_server server;
    auto s = std::make_unique<scene>(store_in(server));
    lease held;
    run(s->io, [](scene& all, lease& to) -> task {
        to = co_await all.lock(0, brief(10s)).acquire();
    }(*s, held));
    const bool succeeded = in_a_fork(s->io, [&] {
        held = lease();
        s.reset();
        return true;
    });
    BOOST_TEST(succeeded);
    run(s->io, [](lease& ours) -> task {
        co_await ours.extend();
        const release_outcome outcome = co_await ours.release();
        BOOST_TEST(outcome == release_outcome::released);
    }(held));
    BOOST_TEST(s->locker().stats().nodes.at(0).connects == 1u);
    s->finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
