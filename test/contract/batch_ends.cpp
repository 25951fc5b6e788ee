// batcher: failures, cancellation, the end.
#include "contract/doubler.hpp"

#include <memory>
#include <stdexcept>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(batch_ends)

// Submits one number to a body, and expects this error.
template <class Body>
task expect_error(scene& s, Body body, error_code expected, bool reported)
{
    std::exception_ptr seen;
    batch_options options;
    options.on_exception = [&seen](std::exception_ptr e) {
        seen = std::move(e);
    };
    doubler failing(s.lock(0), body, options);
    submitted one, two;
    failing.submit(1, one.token());
    failing.submit(2, two.token());
    co_await until_done(one);
    co_await until_done(two);
    for (submitted* const each : {&one, &two}) {
        BOOST_TEST(each->error() == expected, each->error().message());
        BOOST_TEST(each->result<int>() == 0);
    }
    co_await failing.close();
    BOOST_TEST((seen != nullptr) == reported);
}

template <class Exception>
asio::awaitable<numbers> fail_with(Exception why)
{
    co_await pause(1ms);
    throw why;
}

template <class Exception>
auto failing_with(Exception why)
{
    return [why](lease&, std::span<int>) {
        return fail_with(why);
    };
}

task fail_in_every_way(scene& s)
{
    using boost::system::system_error;
    const error_code broken_pipe = asio::error::broken_pipe;
    co_await expect_error(s, failing_with(system_error(broken_pipe)), broken_pipe, true);
    co_await expect_error(
        s, failing_with(std::runtime_error("thrown by the body")), errc::batch_failed, true);
    // These codes would say something else to the caller.
    co_await expect_error(
        s, failing_with(system_error(asio::error::operation_aborted)), errc::batch_failed, true);
    co_await expect_error(s, failing_with(system_error(error_code())), errc::batch_failed, true);
    // For example the loss of another lease: the batcher has not stopped this body.
    const error_code other_lost = errc::lease_lost;
    co_await expect_error(s, failing_with(system_error(other_lost)), other_lost, true);
    const auto throws_at_once = [](lease&, std::span<int>) -> asio::awaitable<numbers> {
        throw std::runtime_error("not even a coroutine");
    };
    co_await expect_error(s, throws_at_once, errc::batch_failed, true);
    const auto one_reply = [](lease&, std::span<int>) -> asio::awaitable<numbers> {
        co_return numbers{1};
    };
    doubler short_one(s.lock(0), one_reply);
    submitted one, two;
    short_one.submit(1, one.token());
    short_one.submit(2, two.token());
    co_await until_done(one);
    co_await until_done(two);
    BOOST_TEST(one.error() == errc::wrong_reply_count);
    BOOST_TEST(two.error() == errc::wrong_reply_count);
}

BOOST_AUTO_TEST_CASE(failures_of_the_body_are_told_to_each_caller)
{
    play(any_backend(), 1, fail_in_every_way);
}

asio::awaitable<numbers> work_for_ever(lease&, std::span<int>)
{
    co_await pause(30s);
    co_return numbers{};
}

task lose_the_lease(scene& s)
{
    doubler endless(s.lock(0, unrenewed()), work_for_ever);
    const auto [ec, reply] = co_await endless.submit(1, no_throw);
    BOOST_TEST(ec == errc::lease_lost);
    lease next = co_await s.lock(1).acquire(5s);
    BOOST_TEST(next.held());
}

BOOST_DATA_TEST_CASE(the_loss_of_the_lease_is_told, every_backend(), each)
{
    play(each.make(), 2, lose_the_lease);
}

task expect_no_lease(scene& s)
{
    lease held = co_await s.lock(0).acquire();
    co_await connect(s.locker(1));
    diary d;
    lock_options options;
    options.wait = 1s;
    doubler late(s.lock(1, options), doubling(d));
    const auto [ec, reply] = co_await late.submit(1, no_throw);
    BOOST_TEST(ec == errc::contended);
    BOOST_TEST(d.batches.empty());

    options.wait = forever;
    doubler patient(s.lock(1, options), doubling(d));
    submitted cancelled;
    patient.submit(2, cancelled.token());
    while (s.locker(1).stats().waiting != 1)
        co_await pause(1ms);
    cancelled.cancel(asio::cancellation_type::total);
    co_await until_done(cancelled);
    BOOST_TEST(cancelled.error() == aborted);
    while (s.locker(1).stats().waiting != 0) // the lock is not needed any more
        co_await pause(1ms);
    submitted served;
    patient.submit(3, served.token());
    co_await held.release();
    co_await until_done(served);
    BOOST_TEST(served.result<int>() == 6);
    BOOST_TEST((d.batches == std::vector<numbers>{{3}}));
}

BOOST_DATA_TEST_CASE(without_a_lease_nothing_is_served, every_backend(), each)
{
    play(each.make(), 2, expect_no_lease);
}

task cancel_requests(scene& s)
{
    diary d;
    doubler numbers_of(s.lock(0), doubling(d), {.max_batch = 2});
    std::vector<submitted> all(4);
    for (std::size_t i = 0; i < all.size(); ++i)
        numbers_of.submit(static_cast<int>(i), all[i].token());
    co_await until(d.inside);
    all[0].cancel(asio::cancellation_type::partial); // its batch has begun
    all[1].cancel(asio::cancellation_type::terminal);
    all[2].cancel(asio::cancellation_type::total);
    all[2].cancel(asio::cancellation_type::terminal);
    co_await until_all_done(all);
    BOOST_TEST(!all[0].error());
    BOOST_TEST(all[1].error() == aborted);
    BOOST_TEST(all[2].error() == aborted);
    BOOST_TEST(!all[3].error());
    BOOST_TEST((d.batches == std::vector<numbers>{{0, 1}, {3}}));
    for (const auto& each : all)
        BOOST_TEST(each.completions() == 1);
}

BOOST_AUTO_TEST_CASE(a_request_can_be_cancelled_before_its_batch_and_left_to_it_afterwards)
{
    play(any_backend(), 1, cancel_requests);
}

task close_it(scene& s)
{
    diary d;
    auto numbers_of = std::make_unique<doubler>(
        s.lock(0), doubling(d), batch_options{.max_batch = 2, .max_queued = 3});
    std::vector<submitted> all(4);
    for (std::size_t i = 0; i < 3; ++i)
        numbers_of->submit(static_cast<int>(i), all[i].token());
    numbers_of->submit(3, all[3].token());
    BOOST_TEST(!all[3].done());
    co_await until_done(all[3]);
    BOOST_TEST(all[3].error() == errc::overloaded);
    co_await until(d.inside);
    call<> gives_up;
    numbers_of->close(gives_up.token());
    gives_up.cancel();
    co_await numbers_of->close();
    BOOST_TEST(gives_up.error() == aborted);
    BOOST_TEST(!d.inside);
    co_await until_all_done(all);
    BOOST_TEST(!all[0].error());
    BOOST_TEST(!all[1].error());
    BOOST_TEST(all[2].error() == errc::closed);
    const auto [ec, reply] = co_await numbers_of->submit(1, no_throw);
    BOOST_TEST(ec == errc::closed);
    co_await numbers_of->close(); // it is closed already

    numbers_of = std::make_unique<doubler>(s.lock(0), doubling(d), batch_options{.max_batch = 1});
    std::vector<submitted> more(2);
    for (auto& each : more)
        numbers_of->submit(1, each.token());
    co_await until(d.inside);
    numbers_of.reset();
    co_await until_all_done(more);
    BOOST_TEST(!more[0].error());
    BOOST_TEST(more[1].error() == errc::closed);
}

BOOST_AUTO_TEST_CASE(a_batcher_can_be_closed_with_requests)
{
    play(any_backend(), 1, close_it);
}

task close_the_locker(scene& s)
{
    bool inside = false;
    doubler endless(s.lock(0), [&inside](lease& held, std::span<int> requests) {
        inside = true;
        return work_for_ever(held, requests);
    });
    submitted one, two;
    endless.submit(1, one.token());
    co_await until(inside); // the lease may come earlier: the second request could join the batch
    endless.submit(2, two.token());
    co_await s.locker().close();
    co_await until_done(one);
    co_await until_done(two);
    BOOST_TEST(one.error() == errc::lease_lost);
    BOOST_TEST(two.error() == errc::closed);
}

BOOST_AUTO_TEST_CASE(a_locker_that_closes_ends_everything)
{
    play(any_backend(), 1, close_the_locker);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
