// Leader election.
#include "contract/backend_contract.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(elections)

election_options quick()
{
    election_options options;
    options.check_every = 5ms;
    options.pause_min = 1ms;
    options.pause_max = 20ms;
    return options;
}

election of(scene& s, std::size_t which, const election_options& options = quick())
{
    return election(s.locker(which), s.resource, brief(), options);
}

// Which candidates lead, and how often they have begun to.
struct office {
    int leaders = 0, most = 0, terms = 0;
};

// Leads until it is told to stop.
auto lead(office& seen)
{
    return [&seen](lease& held) -> task {
        BOOST_TEST(held.held());
        ++seen.terms;
        seen.most = std::max(seen.most, ++seen.leaders);
        try {
            co_await pause(60s);
        } catch (const boost::system::system_error&) {
            --seen.leaders;
            throw;
        }
    };
}

task until(const bool& so)
{
    while (!so)
        co_await pause(1ms);
}

task finish(call<>& run)
{
    run.cancel();
    while (!run.done())
        co_await pause(1ms);
    BOOST_TEST(run.error() == aborted);
}

task until_terms(const office& seen, int terms)
{
    while (seen.terms < terms || seen.leaders == 0)
        co_await pause(1ms);
}

task change_leaders(scene& s)
{
    office seen;
    const election here = of(s, 0), there = of(s, 1);
    call<> one, two;
    here.run(lead(seen), one.token());
    co_await until_terms(seen, 1);
    there.run(lead(seen), two.token());
    co_await pause(20ms);
    BOOST_TEST(seen.terms == 1);

    for (int terms = 2; terms < 10; ++terms) {
        here.resign(); // without effect on the one that does not lead
        there.resign();
        co_await until_terms(seen, terms);
    }
    BOOST_TEST(seen.most == 1);
    co_await finish(one);
    co_await finish(two);
    BOOST_TEST(seen.leaders == 0);
    // The run of a candidate that waited ends before it has left the queue, and the resource may
    // have been passed to it. So one attempt is not enough here.
    const lease free = co_await here.office().acquire();
    BOOST_TEST(free.held());
}

BOOST_DATA_TEST_CASE(one_leads_at_a_time_and_the_next_follows, every_backend(), each)
{
    play(each.make(), 2, change_leaders);
}

BOOST_DATA_TEST_CASE(the_value_of_the_body_ends_the_run, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        const election here = of(s, 0);
        auto body = [](lease& held) -> asio::awaitable<int> {
            BOOST_TEST(held.held());
            co_await pause(1ms);
            co_return 42;
        };
        const int value = co_await here.run(body);
        BOOST_TEST(value == 42);
        lease next = co_await of(s, 1).campaign();
        BOOST_TEST(next.held());
    });
}

BOOST_DATA_TEST_CASE(the_exception_of_the_body_ends_the_run, every_backend(), each)
{
    play(each.make(), 1, [](scene& s) -> task {
        auto body = [](lease&) -> task {
            co_await pause(1ms);
            throw std::runtime_error("thrown by the body");
        };
        std::string what;
        try {
            co_await of(s, 0).run(body);
        } catch (const std::runtime_error& e) {
            what = e.what();
        }
        BOOST_TEST(what == "thrown by the body");
        const lease next = co_await of(s, 0).office().try_acquire();
        BOOST_TEST(next.held());
    });
}

task lose_the_office(scene& s)
{
    office seen;
    const election here(lock(s.locker(), s.resource, unrenewed()), quick());
    call<> run;
    here.run(lead(seen), run.token());
    co_await until_terms(seen, 2); // the first lease has ended, and it was elected again
    BOOST_TEST(seen.most == 1);
    co_await finish(run);
}

BOOST_DATA_TEST_CASE(after_a_lost_lease_it_campaigns_again, every_backend(), each)
{
    play(each.make(), 1, lose_the_office);
}

task become_unfit(scene& s)
{
    office seen;
    const auto fit = std::make_shared<bool>(false);
    election_options options = quick();
    options.healthy = [fit] {
        return *fit;
    };
    const election here = of(s, 0, options);
    call<> run;
    here.run(lead(seen), run.token());
    co_await pause(30ms);
    BOOST_TEST(seen.terms == 0);
    *fit = true;
    co_await until_terms(seen, 1);
    *fit = false;
    while (seen.leaders != 0)
        co_await pause(1ms);
    lease other = co_await of(s, 1).campaign(); // it keeps nothing that others wait for
    *fit = true;
    co_await pause(30ms);
    *fit = false;
    co_await pause(30ms);
    co_await other.release();
    co_await pause(30ms);
    BOOST_TEST(seen.terms == 1);
    co_await finish(run);
}

BOOST_DATA_TEST_CASE(only_a_healthy_process_leads, every_backend(), each)
{
    play(each.make(), 2, become_unfit);
}

struct failing_check {
    bool throws = true;
    int asked = 0;
};

task fail_to_check(scene& s)
{
    office seen;
    const auto check = std::make_shared<failing_check>();
    election_options options = quick();
    options.healthy = [check] {
        ++check->asked;
        if (check->throws)
            throw std::runtime_error("the check has failed");
        return true;
    };
    const election here = of(s, 0, options);
    call<> run;
    here.run(lead(seen), run.token());
    while (check->asked < 3)
        co_await pause(1ms);
    lease free = co_await of(s, 1).office().try_acquire();
    BOOST_TEST(free.held());
    BOOST_TEST(seen.terms == 0);
    co_await free.release();

    check->throws = false;
    co_await until_terms(seen, 1);
    check->throws = true;
    while (seen.leaders != 0)
        co_await pause(1ms);
    BOOST_TEST(!run.done());
    check->throws = false;
    co_await until_terms(seen, 2);
    co_await finish(run);
}

BOOST_AUTO_TEST_CASE(a_health_check_that_throws_counts_as_unfit)
{
    play(any_backend(), 2, fail_to_check);
}

// One copy is gone before the run is told to resign.
task resign_by_copies(scene& s)
{
    office seen;
    call<> one, two;
    const election first = of(s, 0);
    const election second = first;
    {
        const election third = second;
        third.run(lead(seen), one.token());
    }
    co_await until_terms(seen, 1);
    second.run(lead(seen), two.token()); // waits for the office
    for (int terms = 2; terms < 6; ++terms) {
        (terms < 4 ? first : second).resign();
        co_await until_terms(seen, terms);
    }
    BOOST_TEST(seen.most == 1);
    co_await finish(one);
    co_await finish(two);
}

BOOST_AUTO_TEST_CASE(a_resignation_reaches_the_runs_of_all_copies)
{
    play(any_backend(), 1, resign_by_copies);
}

task resign_in_the_body(scene& s)
{
    const election here = of(s, 0);
    int terms = 0, stopped = 0;
    auto body = [&](lease&) -> asio::awaitable<int> {
        if (++terms == 3)
            co_return 42;
        here.resign();
        try {
            co_await pause(hang_limit / 2);
        } catch (const boost::system::system_error&) {
            ++stopped;
        }
        co_return 0; // is dropped
    };
    const int value = co_await here.run(body);
    BOOST_TEST(value == 42);
    BOOST_TEST(stopped == 2);
}

BOOST_AUTO_TEST_CASE(a_leader_may_resign_in_the_body)
{
    play(any_backend(), 1, resign_in_the_body);
}

// The lease is kept until the work has stopped.
task stop_slowly(scene& s)
{
    bool begun = false, stopping = false, may_end = false;
    auto body = [&](lease&) -> task {
        begun = true;
        co_await asio::this_coro::throw_if_cancelled(false);
        try {
            co_await pause(60s);
        } catch (const boost::system::system_error&) {
            stopping = true;
        }
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await until(may_end);
    };
    const election here = of(s, 0);
    call<> run;
    here.run(body, run.token());
    co_await until(begun);
    run.cancel();
    co_await until(stopping);
    const lease early = co_await of(s, 1).office().try_acquire();
    BOOST_TEST(!early);
    BOOST_TEST(!run.done());
    may_end = true;
    while (!run.done())
        co_await pause(1ms);
    BOOST_TEST(run.error() == aborted);
    const lease next = co_await of(s, 1).campaign();
    BOOST_TEST(next.held());
}

BOOST_DATA_TEST_CASE(the_office_is_free_when_the_work_has_stopped, every_backend(), each)
{
    play(each.make(), 2, stop_slowly);
}

BOOST_DATA_TEST_CASE(anyone_can_see_who_leads, every_backend(), each)
{
    if (!each.inspects)
        return;
    play(each.make(), 2, [](scene& s) -> task {
        const election here = of(s, 0), there = of(s, 1);
        const resource_report before = co_await there.observe();
        BOOST_TEST(!before.held);
        lease leading = co_await here.campaign();
        const resource_report now = co_await there.observe();
        BOOST_TEST(now.held);
        BOOST_TEST(now.owner.has_value());
    });
}

BOOST_AUTO_TEST_CASE(a_closed_locker_ends_a_run)
{
    play(any_backend(), 1, [](scene& s) -> task {
        office seen;
        const election here = of(s, 0);
        call<> run;
        here.run(lead(seen), run.token());
        co_await until_terms(seen, 1);
        co_await s.locker().close();
        while (!run.done())
            co_await pause(1ms);
        BOOST_TEST(run.error() == errc::closed);
        BOOST_TEST(seen.leaders == 0);
    });
}

BOOST_AUTO_TEST_CASE(a_closed_locker_ends_a_run_that_is_not_fit_to_lead)
{
    play(any_backend(), 1, [](scene& s) -> task {
        election_options options = quick();
        options.healthy = [] {
            return false;
        };
        office seen;
        const election here = of(s, 0, options);
        call<> run;
        here.run(lead(seen), run.token());
        co_await pause(5ms);
        co_await s.locker().close();
        while (!run.done())
            co_await pause(1ms);
        BOOST_TEST(run.error() == errc::closed);
        BOOST_TEST(seen.terms == 0);
    });
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused)
{
    election_options options;
    options.check_every = 0ms;
    BOOST_CHECK_THROW(check(options), std::invalid_argument);
    options = {};
    options.pause_min = 2h;
    BOOST_CHECK_THROW(check(options), std::invalid_argument);
    options = {};
    options.pause_max = options.pause_min - 1ms;
    BOOST_CHECK_THROW(check(options), std::invalid_argument);
    BOOST_CHECK_NO_THROW(check(election_options()));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
