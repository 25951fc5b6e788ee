// lock::hold(): work under a lock as one operation.
#include "contract/backend_contract.hpp"

#include <memory>
#include <stdexcept>
#include <thread>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(hold)

task expect_free(holdfast::lock lock)
{
    lease next = co_await lock.try_acquire();
    BOOST_TEST(next.held());
}

asio::awaitable<int> give_a_number(lease& held)
{
    BOOST_TEST(held.held());
    co_await pause(1ms);
    co_return 42;
}

BOOST_DATA_TEST_CASE(it_returns_the_value_of_the_body, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        const int value = co_await s.lock(0).hold(give_a_number, asio::use_awaitable);
        BOOST_TEST(value == 42);
        co_await expect_free(s.lock(1));
    });
}

task fail(lease&)
{
    co_await pause(1ms);
    throw std::runtime_error("thrown by the body");
}

BOOST_DATA_TEST_CASE(it_releases_when_the_body_throws, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        std::string what;
        try {
            co_await s.lock(0).hold(fail);
        } catch (const std::runtime_error& e) {
            what = e.what();
        }
        BOOST_TEST(what == "thrown by the body");
        co_await expect_free(s.lock(1));
    });
}

task release_and_fail(lease& held)
{
    co_await held.release(); // then the release by hold() fails
    throw std::runtime_error("thrown by the body");
}

BOOST_DATA_TEST_CASE(the_error_of_the_body_takes_precedence, every_backend(), each)
{
    play(each.make(), 1, [](scene& s) -> task {
        std::string what;
        try {
            co_await s.lock(0).hold(release_and_fail);
        } catch (const std::runtime_error& e) {
            what = e.what();
        }
        BOOST_TEST(what == "thrown by the body");
    });
}

task release_early(lease& held)
{
    co_await held.release();
}

BOOST_DATA_TEST_CASE(the_body_may_release_early, every_backend(), each)
{
    play(each.make(), 1, [](scene& s) -> task {
        co_await s.lock(0).hold(release_early);
        co_await expect_free(s.lock(0));
    });
}

task expect_no_run(scene& s)
{
    lease held = co_await s.lock(0).acquire();
    co_await connect(s.locker(1));
    lock_options options;
    options.wait = 1s;
    bool ran = false;
    error_code why;
    auto body = [&ran](lease& given) {
        ran = true;
        return give_a_number(given);
    };
    try {
        co_await s.lock(1, options).hold(body, asio::use_awaitable);
    } catch (const boost::system::system_error& e) {
        why = e.code();
    }
    BOOST_TEST(why == errc::contended);
    BOOST_TEST(!ran);
}

BOOST_DATA_TEST_CASE(without_a_lease_the_body_does_not_run, every_backend(), each)
{
    play(each.make(), 2, expect_no_run);
}

struct diary {
    error_code seen;
    steady::time_point stopped, ends;
};

task work_for_ever(lease& held, diary& d)
{
    d.ends = held.valid_until();
    try {
        co_await pause(30s);
    } catch (const boost::system::system_error& e) {
        d.seen = e.code();
        d.stopped = steady::now();
        throw;
    }
}

task lose_the_lease(scene& s)
{
    diary d;
    auto body = [&d](lease& held) {
        return work_for_ever(held, d);
    };
    error_code why;
    try {
        co_await s.lock(0, warned_early()).hold(body);
    } catch (const boost::system::system_error& e) {
        why = e.code();
    }
    BOOST_TEST(why == errc::lease_lost);
    BOOST_TEST(d.seen == aborted);
    BOOST_TEST((d.stopped < d.ends));
    co_await expect_free(s.lock(1)); // released when the body had stopped
}

BOOST_DATA_TEST_CASE(the_loss_of_the_lease_cancels_the_body_before_the_end, every_backend(), each)
{
    play(each.make(), 2, lose_the_lease);
}

task ignore_everything(lease& held)
{
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    while (held.held())
        co_await pause(5ms);
}

BOOST_DATA_TEST_CASE(a_body_that_runs_past_the_end_of_the_lease_is_reported, every_backend(), each)
{
    play(each.make(), 1, [](scene& s) -> task {
        error_code why;
        try {
            co_await s.lock(0, unrenewed()).hold(ignore_everything);
        } catch (const boost::system::system_error& e) {
            why = e.code();
        }
        BOOST_TEST(why == errc::lease_lost);
    });
}

task cancel_the_body(scene& s)
{
    diary d;
    call<> holding;
    auto body = [&d](lease& held) {
        return work_for_ever(held, d);
    };
    s.lock(0).hold(body, holding.token());
    while (d.ends == steady::time_point()) // the lease comes before the body begins
        co_await pause(1ms);
    holding.cancel();
    while (!holding.done())
        co_await pause(1ms);
    BOOST_TEST(holding.error() == aborted);
    BOOST_TEST(d.seen == aborted);
    co_await expect_free(s.lock(1));
}

BOOST_DATA_TEST_CASE(a_cancellation_reaches_the_body, every_backend(), each)
{
    play(each.make(), 2, cancel_the_body);
}

asio::awaitable<int> block_beyond_the_end(lease&)
{
    std::this_thread::sleep_for(1300ms); // no notification can be delivered meanwhile
    co_return 42;
}

// A body that blocks its thread past the end of the lease is not reported as a success.
BOOST_DATA_TEST_CASE(
    a_body_that_blocks_past_the_end_of_its_lease_has_lost_it, every_backend(), each)
{
    play(each.make(), 1, [](scene& s) -> task {
        error_code ec;
        try {
            co_await s.lock(0, unrenewed()).hold(block_beyond_the_end);
        } catch (const boost::system::system_error& e) {
            ec = e.code();
        }
        BOOST_TEST(ec == errc::lease_lost);
    });
}

// Counts how often it is constructed and destroyed.
class counted {
public:
    explicit counted(int& balance) : balance_(&balance) { ++*balance_; }
    counted(const counted& other) : balance_(other.balance_) { ++*balance_; }
    counted& operator=(const counted&) = delete;
    ~counted() { --*balance_; }

    int& balance() const { return *balance_; }

private:
    int* balance_;
};

task capture_by_value(scene& s, int& balance)
{
    const counted captured(balance);
    const auto number = std::make_shared<int>(1);
    auto body = [number, captured](lease&) -> asio::awaitable<int> {
        co_await pause(1ms);
        co_return *number + captured.balance();
    };
    const int sum = co_await s.lock(0).hold(body);
    BOOST_TEST(sum > 2);
    BOOST_TEST(balance == 2);
    BOOST_TEST(number.use_count() == 2);

    auto held = s.lock(0).hold([number, captured](lease&) -> asio::awaitable<int> {
        co_await pause(1ms);
        co_return *number + captured.balance();
    });
    const int other = co_await std::move(held);
    BOOST_TEST(other > 2);
    BOOST_TEST(balance == 2);
    BOOST_TEST(number.use_count() == 2);
}

// The lambda must not be made inside a `co_await` expression: GCC 12 destroys its captures twice.
BOOST_AUTO_TEST_CASE(the_captures_of_the_body_are_destroyed_when_it_has_ended)
{
    int balance = 0;
    play(any_backend(), 1, [&balance](scene& s) { return capture_by_value(s, balance); });
    BOOST_TEST(balance == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
