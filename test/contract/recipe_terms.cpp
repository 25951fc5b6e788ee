// How long recipes wait, and how long what they are granted lasts.
#include "contract/backend_contract.hpp"

#include <holdfast/multi_lock.hpp>
#include <holdfast/read_write_lock.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(recipe_terms)

holdfast::lock with_wait(scene& s, const char* name, std::chrono::milliseconds wait)
{
    lock_options options;
    options.wait = wait;
    return holdfast::lock(s.locker(1), s.resource + name, options);
}

task wait_like_the_most_patient(scene& s)
{
    const holdfast::lock first(s.locker(0), s.resource + ":a");
    const lease taken = co_await first.acquire();
    std::vector<holdfast::lock> members{
        with_wait(s, ":a", 1ms), with_wait(s, ":b", 500ms), with_wait(s, ":c", 20ms)};
    const multi_lock all(std::move(members));
    const auto begin = steady::now();
    auto [ec, none] = co_await all.acquire(no_throw);
    const auto waited = steady::now() - begin;
    BOOST_TEST(ec == errc::contended);
    BOOST_TEST((waited >= 500ms));
    BOOST_TEST((waited < lock_options().wait)); // no default

    auto body = [](multi_lease&) -> task {
        BOOST_ERROR("the body runs without a lease");
        co_return;
    };
    const auto again = steady::now();
    error_code why;
    try {
        co_await all.hold(body);
    } catch (const boost::system::system_error& e) {
        why = e.code();
    }
    BOOST_TEST(why == errc::contended);
    BOOST_TEST((steady::now() - again >= 500ms));
}

BOOST_AUTO_TEST_CASE(a_multi_lock_waits_as_long_as_its_most_patient_member)
{
    play(any_backend(), 2, wait_like_the_most_patient);
}

// One of the readers joins at once, another one passes the gate again. Then the first one leaves.
task read_as_long_as_the_first(
    scene& s, const char* name, lock_options options, std::chrono::milliseconds limit)
{
    options.handoff_time = 50ms;
    options.guard = 2s; // a busy machine has this long to tell them
    const read_write_lock book(s.locker(), s.resource + name, options);
    shared_lease first = co_await book.acquire_shared();
    const auto latest = steady::now() + limit;
    shared_lease joined = co_await book.acquire_shared();
    co_await pause(200ms);
    shared_lease late = co_await book.acquire_shared();
    BOOST_TEST(joined.resource() == first.resource());
    BOOST_TEST(late.resource() == first.resource());
    co_await first.release();
    BOOST_TEST(joined.held());
    BOOST_TEST((joined.valid_until() <= latest));
    const auto ends = late.valid_until();
    BOOST_TEST((ends <= latest));

    call<> one, two;
    joined.lost(one.token());
    late.lost(two.token());
    while (!one.done() || !two.done())
        co_await pause(1ms);
    BOOST_TEST((steady::now() < ends));
    BOOST_TEST(one.error() == errc::lease_lost);
    BOOST_TEST(two.error() == errc::lease_lost);
}

BOOST_AUTO_TEST_CASE(readers_have_what_is_left_of_the_time_of_the_first_of_them)
{
    lock_options limited;
    limited.max_hold = 5s;
    const lock_options not_renewed = unrenewed(5s);
    scene s(any_backend(), 1);
    std::vector<task> both;
    both.push_back(read_as_long_as_the_first(s, ":limited", limited, limited.max_hold));
    both.push_back(read_as_long_as_the_first(s, ":not_renewed", not_renewed, not_renewed.ttl));
    run(s.io, std::move(both));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
