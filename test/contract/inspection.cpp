// What people are told about locks, and how a lock is taken away.
#include "contract/backend_contract.hpp"

#include <unistd.h>

#include <string_view>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(inspection)

std::vector<subject> backends_that_tell()
{
    std::vector<subject> all = every_backend();
    std::erase_if(all, [](const subject& each) { return !each.inspects; });
    return all;
}

std::vector<subject> backends_that_take_away()
{
    std::vector<subject> all = backends_that_tell();
    std::erase_if(all, [](const subject& each) { return !each.takes_away || !each.tells_losses; });
    return all;
}

// As well as the backend can tell.
bool is_this_process(const subject& each, const std::optional<lock_owner>& owner)
{
    if (!owner || owner->foreign || !each.names_processes)
        return owner && !owner->foreign && !owner->client;
    return owner->client && owner->client->pid == static_cast<std::uint32_t>(::getpid()) &&
           !owner->client->host.empty() && owner->client->program == "contract";
}

task see_a_lock(scene& s, subject each)
{
    const resource_report before = co_await s.locker(1).inspect(s.resource, asio::use_awaitable);
    BOOST_TEST(before.resource == s.resource);
    BOOST_TEST(!before.held);
    BOOST_TEST(!before.owner);

    const auto asked = std::chrono::system_clock::now();
    lease held = co_await s.lock(0).acquire();
    const resource_report seen = co_await s.locker(1).inspect(s.resource, asio::use_awaitable);
    BOOST_TEST(seen.held);
    BOOST_TEST(seen.having >= seen.majority);
    BOOST_TEST(is_this_process(each, seen.owner));
    BOOST_TEST((seen.owner->since > asked - 2s));
    BOOST_TEST((seen.owner->since < std::chrono::system_clock::now() + 1s));
    BOOST_TEST(seen.ttl_left.has_value() == each.tells_time_left);
    BOOST_TEST((!seen.ttl_left || (seen.ttl_left > 0ms && seen.ttl_left <= 10s)));
    BOOST_TEST(!seen.without_ttl);
    BOOST_TEST(seen.fence.has_value() == held.fence().has_value());
    if (held.fence())
        BOOST_TEST(*seen.fence >= *held.fence());

    co_await held.release();
    const resource_report after = co_await s.locker(0).inspect(s.resource, asio::use_awaitable);
    BOOST_TEST(!after.held);
}

BOOST_DATA_TEST_CASE(a_lock_has_an_owner, backends_that_tell(), each)
{
    play(each.make(), 2, [&](scene& s) { return see_a_lock(s, each); });
}

// Two lockers of one process are told apart.
task compare_owners(scene& s, subject of)
{
    holdfast::lock a(s.locker(0), s.resource + ":a"), b(s.locker(1), s.resource + ":b");
    lease first = co_await a.acquire(), second = co_await b.acquire();
    const lock_list all = co_await s.locker(0).list(s.resource + ":", asio::use_awaitable);
    BOOST_TEST(all.complete);
    BOOST_REQUIRE(all.locks.size() == 2u);
    BOOST_TEST(all.locks[0].resource == s.resource + ":a");
    BOOST_TEST(all.locks[1].resource == s.resource + ":b");
    for (const listed_lock& each : all.locks) {
        BOOST_TEST(each.held);
        BOOST_TEST(is_this_process(of, each.owner));
        BOOST_TEST((!of.tells_time_left || each.ttl_left > 0ms));
    }
    BOOST_TEST(all.locks[0].owner->id != all.locks[1].owner->id);
    // Names that are made in place, and too long to be stored without an allocation.
    const lock_list none = co_await s.locker(0).list(
        s.resource + ": there is no lock whose name begins like this", asio::use_awaitable);
    const resource_report other =
        co_await s.locker(0).inspect("a resource that no other test has a name for");
    BOOST_TEST(other.resource == "a resource that no other test has a name for");
    BOOST_TEST(!other.held);
    BOOST_TEST(none.complete);
    BOOST_TEST(none.locks.empty());
}

BOOST_DATA_TEST_CASE(locks_are_listed_by_prefix, backends_that_tell(), each)
{
    play(each.make(), 2, [&](scene& s) { return compare_owners(s, each); });
}

task take_away_from_oneself(scene& s, subject each)
{
    lease held = co_await s.lock(0, brief(30s)).acquire();
    const auto taken = steady::now();
    const forced_release done = co_await s.locker(0).force_release(s.resource, asio::use_awaitable);
    BOOST_TEST(done.told);
    BOOST_TEST(done.deleted > 0u);
    BOOST_TEST(is_this_process(each, done.owner));
    const auto [lost] = co_await held.lost(no_throw);
    BOOST_TEST(lost == errc::lease_lost);
    BOOST_TEST((steady::now() - taken < 8s)); // the next renewal is due after 10 s
    BOOST_TEST(!held.held());

    lease next = co_await s.lock(1).acquire(5s);
    BOOST_TEST(next.held());
    const auto [again, outcome] = co_await held.release(no_throw);
    BOOST_TEST(!again);
    BOOST_TEST(outcome == release_outcome::expired);
    BOOST_TEST(next.held()); // the late release has not hit the successor
}

BOOST_DATA_TEST_CASE(a_lock_that_is_taken_away_is_lost, backends_that_take_away(), each)
{
    play(each.make(), 2, [&](scene& s) { return take_away_from_oneself(s, each); });
}

task take_away_from_another(scene& s)
{
    lease held = co_await s.lock(0, brief()).acquire();
    co_await s.locker(1).force_release(s.resource, asio::use_awaitable);
    const auto [lost] = co_await held.lost(no_throw); // at its next renewal at the latest
    BOOST_TEST(lost == errc::lease_lost);
    lease next = co_await s.lock(1).acquire(5s);
    BOOST_TEST(next.held());
}

BOOST_DATA_TEST_CASE(a_lock_of_another_locker_is_taken_away, backends_that_take_away(), each)
{
    play(each.make(), 2, [](scene& s) { return take_away_from_another(s); });
}

task take_what_is_free(scene& s)
{
    const auto [ec, done] = co_await s.locker(0).force_release(s.resource, no_throw);
    BOOST_TEST(ec == errc::not_held);
    BOOST_TEST(done.deleted == 0u);
}

BOOST_DATA_TEST_CASE(what_is_free_cannot_be_taken_away, backends_that_take_away(), each)
{
    play(each.make(), 1, [](scene& s) { return take_what_is_free(s); });
}

BOOST_DATA_TEST_CASE(a_closed_locker_tells_nothing, backends_that_tell(), each)
{
    scene s(each.make());
    call<resource_report> before, after;
    call<lock_list> list;
    call<forced_release> force;
    s.locker().inspect(s.resource, before.token());
    s.finish();
    BOOST_TEST(before.completions() == 1);
    BOOST_TEST((!before.error() || before.error() == errc::closed));
    s.locker().inspect(s.resource, after.token());
    s.locker().list("", list.token());
    s.locker().force_release(s.resource, force.token());
    s.io.restart();
    s.io.run();
    BOOST_TEST(after.error() == errc::closed);
    BOOST_TEST(list.error() == errc::closed);
    BOOST_TEST(force.error() == errc::closed);
}

BOOST_DATA_TEST_CASE(questions_can_be_cancelled, backends_that_tell(), each)
{
    scene s(each.make());
    call<resource_report> inspect;
    call<lock_list> list;
    call<forced_release> force;
    s.locker().inspect(s.resource, inspect.token());
    s.locker().list(s.resource, list.token());
    s.locker().force_release(s.resource, force.token());
    force.cancel(asio::cancellation_type::total); // it may have been sent
    for (const bool done : {inspect.done(), list.done(), force.done()})
        BOOST_TEST(!done);
    inspect.cancel(asio::cancellation_type::total);
    list.cancel(asio::cancellation_type::partial);
    run_until(s.io, [&] { return inspect.done() && list.done() && force.done(); });
    // Nothing was sent yet, so no answer can have come first. In memory it comes within the call.
    const bool answers_at_once = std::string_view(each.name) == "memory";
    const error_code expected = answers_at_once ? error_code() : aborted;
    BOOST_TEST(inspect.error() == expected);
    BOOST_TEST(list.error() == expected);
    BOOST_TEST(force.error() == (each.takes_away ? errc::not_held : errc::unreachable));
    s.finish();
    BOOST_TEST(inspect.completions() + list.completions() + force.completions() == 3);
}

// As in all stores. Those with names that come first are listed.
BOOST_AUTO_TEST_CASE(a_list_in_memory_has_a_limit)
{
    play(memory(), 1, [](scene& s) -> task {
        constexpr std::size_t most = 20'000;
        std::vector<lease> all;
        for (std::size_t i = 0; i <= most; ++i) {
            const holdfast::lock each(s.locker(0), s.resource + std::to_string(100'000 + i));
            all.push_back(co_await each.acquire());
        }
        lock_list found = co_await s.locker(0).list(s.resource, asio::use_awaitable);
        BOOST_TEST(found.locks.size() == most);
        BOOST_TEST(!found.complete);
        BOOST_TEST(found.locks.front().resource == s.resource + "100000");
        BOOST_TEST(found.locks.back().resource == s.resource + "119999");
        co_await all.front().release();
        found = co_await s.locker(0).list(s.resource, asio::use_awaitable);
        BOOST_TEST(found.locks.size() == most);
        BOOST_TEST(found.complete);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
