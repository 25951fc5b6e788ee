// batcher: the loss of the lease, and locks that refuse to wait.
#include "contract/doubler.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(batch_losses)

// A body whose first batch works until it is stopped. Others take a moment.
struct endless_at_first {
    diary seen{};
    bool stopped_in_time = false;

    asio::awaitable<numbers> operator()(lease& held, std::span<int> requests)
    {
        if (!seen.batches.empty()) {
            auto work = twice(seen, held, requests);
            co_return co_await std::move(work);
        }
        seen.batches.emplace_back(requests.begin(), requests.end());
        seen.inside = true;
        try {
            co_await pause(hang_limit / 2);
        } catch (const boost::system::system_error& e) {
            stopped_in_time = e.code() == aborted && held.held();
            seen.inside = false;
            throw;
        }
        co_return numbers(requests.size());
    }
};

template <class Body>
auto calls_of(Body& body)
{
    return [&body](lease& held, std::span<int> requests) {
        return body(held, requests);
    };
}

task lose_a_batch(scene& s)
{
    endless_at_first body;
    std::size_t reported = 0;
    batch_options options;
    options.max_batch = 3;
    options.on_exception = [&reported](const std::exception_ptr&) {
        ++reported;
    };
    doubler numbers_of(s.lock(0, warned_early()), calls_of(body), options);
    std::vector<submitted> all(5);
    for (std::size_t i = 0; i < all.size(); ++i)
        numbers_of.submit(static_cast<int>(i), all[i].token());
    co_await until(body.seen.inside);
    all[1].cancel(asio::cancellation_type::terminal);
    co_await until_all_done(all);
    BOOST_TEST(body.stopped_in_time);
    BOOST_TEST(all[0].error() == errc::lease_lost);
    BOOST_TEST(all[1].error() == aborted);
    BOOST_TEST(all[2].error() == errc::lease_lost);
    BOOST_TEST(all[2].result<int>() == 0);
    // Those that waited meanwhile have a lease of their own; the others are not served again.
    BOOST_TEST(!all[3].error());
    BOOST_TEST(all[4].result<int>() == 8);
    BOOST_TEST((body.seen.batches == std::vector<numbers>{{0, 1, 2}, {3, 4}}));
    BOOST_TEST(!body.seen.overlapped);
    co_await numbers_of.close();
    for (const auto& each : all)
        BOOST_TEST(each.completions() == 1);
    BOOST_TEST(reported == 0u); // the body has done as it was told
    const lease given_back = co_await s.lock(1).acquire(5s);
}

BOOST_DATA_TEST_CASE(
    a_lost_batch_is_told_to_each_request_and_not_served_again, every_backend(), each)
{
    play(each.make(), 2, lose_a_batch);
}

// A body that does not stop, until its lease is over.
asio::awaitable<numbers> go_on_too_long(lease& held, std::span<int> requests)
{
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    while (held.held())
        co_await pause(5ms);
    co_return numbers(requests.size(), 1);
}

task be_late(scene& s)
{
    doubler late(s.lock(0, unrenewed()), go_on_too_long);
    std::vector<submitted> all(2);
    for (auto& each : all)
        late.submit(1, each.token());
    co_await until_all_done(all);
    for (auto& each : all) {
        BOOST_TEST(each.error() == errc::lease_lost);
        BOOST_TEST(each.result<int>() == 0); // no caller may believe in these replies
    }
}

BOOST_AUTO_TEST_CASE(replies_of_a_body_that_went_on_beyond_the_lease_are_not_given)
{
    play(any_backend(), 1, be_late);
}

// A body that ends its work quickly when it is told to stop.
asio::awaitable<numbers> end_in_time(lease& held, std::span<int> requests)
{
    const auto token = asio::experimental::as_tuple(asio::use_awaitable);
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    const auto [why] = co_await held.lost(token);
    BOOST_TEST(why == errc::lease_lost);
    co_return numbers(requests.size(), 1);
}

asio::awaitable<numbers> fail_when_stopped(lease& held, std::span<int>)
{
    const auto token = asio::experimental::as_tuple(asio::use_awaitable);
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await held.lost(token);
    throw boost::system::system_error(asio::error::broken_pipe);
}

task stop_in_other_ways(scene& s)
{
    {
        doubler quick(s.lock(0, warned_early()), end_in_time);
        const auto [ec, reply] = co_await quick.submit(1, no_throw);
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(reply == 1);
        co_await quick.close();
    }
    std::size_t reported = 0;
    batch_options options;
    options.on_exception = [&reported](const std::exception_ptr&) {
        ++reported;
    };
    doubler broken(s.lock(0, unrenewed()), fail_when_stopped, options);
    const auto [ec, reply] = co_await broken.submit(1, no_throw);
    BOOST_TEST(ec == asio::error::broken_pipe); // more than that the lease was lost
    co_await broken.close();
    BOOST_TEST(reported == 1u);
}

BOOST_AUTO_TEST_CASE(a_body_that_is_told_to_stop_may_end_with_replies_or_an_error_of_its_own)
{
    play(any_backend(), 1, stop_in_other_ways);
}

task have_no_place(scene& s)
{
    lock_options few;
    few.wait = forever;
    few.max_waiters = 1;
    lease held = co_await s.lock(0).acquire();
    call<lease> waiter;
    s.lock(0).acquire(forever, waiter.token());
    while (s.locker(0).stats().waiting != 1)
        co_await pause(1ms);

    diary d;
    doubler numbers_of(s.lock(0, few), doubling(d), {.max_batch = 2});
    std::vector<submitted> all(3);
    for (auto& each : all)
        numbers_of.submit(1, each.token());
    co_await until_all_done(all);
    for (auto& each : all)
        BOOST_TEST(each.error() == errc::overloaded);
    BOOST_TEST(d.batches.empty());

    // The batcher itself is one waiter, however many requests wait in it.
    waiter.cancel();
    while (!waiter.done())
        co_await pause(1ms);
    std::vector<submitted> patient(3);
    for (std::size_t i = 0; i < patient.size(); ++i)
        numbers_of.submit(static_cast<int>(i), patient[i].token());
    while (s.locker(0).stats().waiting != 1)
        co_await pause(1ms);
    const auto [ec, none] = co_await s.lock(0, few).acquire(no_throw);
    BOOST_TEST(ec == errc::overloaded);
    co_await held.release();
    co_await until_all_done(patient);
    for (auto& each : patient)
        BOOST_TEST(!each.error(), each.error().message());
    BOOST_TEST((d.batches == std::vector<numbers>{{0, 1}, {2}}));
}

BOOST_AUTO_TEST_CASE(requests_are_refused_where_the_lock_has_too_many_waiters)
{
    play(any_backend(), 1, have_no_place);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
