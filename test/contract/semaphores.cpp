// Permits of a semaphore.
#include "contract/backend_contract.hpp"

#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(semaphores)

holdfast::semaphore of(scene& s, std::size_t which, std::size_t permits)
{
    return holdfast::semaphore(s.locker(which), s.resource, permits, brief());
}

BOOST_DATA_TEST_CASE(all_permits_are_granted_and_no_more, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        const auto here = of(s, 0, 3), there = of(s, 1, 3);
        std::vector<lease> held;
        held.push_back(co_await here.acquire());
        held.push_back(co_await there.acquire());
        held.push_back(co_await here.try_acquire());
        for (const lease& permit : held)
            BOOST_TEST(permit.held());
        BOOST_TEST(held[0].resource() != held[2].resource());

        const lease fourth = co_await there.try_acquire();
        BOOST_TEST(!fourth);
        auto [ec, late] = co_await here.acquire(1500ms, no_throw);
        BOOST_TEST(ec == errc::contended);
        BOOST_TEST(!late);
        auto [at_once, none] = co_await there.acquire(0ms, no_throw);
        BOOST_TEST(at_once == errc::contended);
    });
}

task release_while_another_waits(scene& s, std::size_t waiting_in)
{
    const auto here = of(s, 0, 2), other = of(s, waiting_in, 2);
    lease one = co_await here.acquire();
    lease two = co_await here.acquire();
    call<lease> waiting;
    other.acquire(30s, waiting.token());
    co_await pause(20ms);
    BOOST_TEST(!waiting.done());
    co_await two.release();
    while (!waiting.done())
        co_await pause(1ms);
    BOOST_TEST(!waiting.error());
    BOOST_TEST(waiting.result<lease>().held());
    BOOST_TEST(one.held());
}

// Whichever slot the waiter has chosen: it notices that the other one is free.
BOOST_DATA_TEST_CASE(a_waiter_gets_the_permit_that_becomes_free, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) { return release_while_another_waits(s, 1); });
    play(each.make(), 1, [](scene& s) { return release_while_another_waits(s, 0); });
}

BOOST_DATA_TEST_CASE(a_cancelled_wait_leaves_nothing_behind, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        const auto here = of(s, 0, 1), there = of(s, 1, 1);
        lease held = co_await here.acquire();
        call<lease> waiting;
        there.acquire(forever, waiting.token());
        co_await pause(20ms);
        waiting.cancel();
        while (!waiting.done())
            co_await pause(1ms);
        BOOST_TEST(waiting.error() == aborted);
        co_await held.release();
        lease next = co_await here.acquire(5s);
        BOOST_TEST(next.held());
    });
}

// Far more callers than permits, in two processes.
task crowd(scene& s)
{
    constexpr std::size_t permits = 4, callers = 40;
    struct counts {
        std::size_t inside = 0, most = 0, done = 0;
    } seen;
    const holdfast::semaphore both[] = {of(s, 0, permits), of(s, 1, permits)};
    auto body = [&seen](lease&) -> task {
        seen.most = std::max(seen.most, ++seen.inside);
        const auto limit = steady::now() + 5s;
        co_await pause(2ms);
        while (seen.most < 2 && steady::now() < limit) // the next grant may take longer
            co_await pause(1ms);
        --seen.inside;
        ++seen.done;
    };
    std::vector<call<>> all(callers);
    for (std::size_t i = 0; i < callers; ++i)
        both[i % 2].hold(body, all[i].token());
    for (const call<>& each : all) {
        while (!each.done())
            co_await pause(1ms);
        BOOST_TEST(!each.error(), each.error().message());
    }
    BOOST_TEST(seen.done == callers);
    BOOST_TEST(seen.most <= permits);
    BOOST_TEST(seen.most > 1u);
}

BOOST_DATA_TEST_CASE(a_crowd_shares_the_permits, every_backend(), each)
{
    play(each.make(), 2, crowd);
}

BOOST_AUTO_TEST_CASE(a_closed_locker_grants_no_permit)
{
    play(any_backend(), 1, [](scene& s) -> task {
        const auto here = of(s, 0, 2);
        co_await s.locker().close();
        auto [ec, none] = co_await here.acquire(forever, no_throw);
        BOOST_TEST(ec == errc::closed);
    });
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused)
{
    play(any_backend(), 1, [](scene& s) -> task {
        BOOST_CHECK_THROW(of(s, 0, 0), std::invalid_argument);
        BOOST_CHECK_THROW(of(s, 0, semaphore::most_permits + 1), std::invalid_argument);
        BOOST_CHECK_THROW(semaphore(s.locker(), std::string(semaphore::max_name_size + 1, 'a'), 1),
            std::invalid_argument);
        lock_options resting;
        resting.min_hold = 1s;
        BOOST_CHECK_THROW(semaphore(s.locker(), "a", 1, resting), std::invalid_argument);
        lock_options sticky;
        sticky.linger = 1s;
        BOOST_CHECK_THROW(semaphore(s.locker(), "a", 1, sticky), std::invalid_argument);
        BOOST_CHECK_THROW(lock(s.locker(), "a:0:holdfast:permit"), std::invalid_argument);
        co_return;
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
