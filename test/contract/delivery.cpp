// Completion handlers do not disturb each other.
#include "contract/backend_contract.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(delivery)

// Leases of one locker. All are lost in the same turn when the locker is closed.
std::vector<lease> take_leases(holdfast::locker& locker, std::size_t count)
{
    std::vector<lease> all;
    for (std::size_t i = 0; i < count; ++i) {
        holdfast::lock lock(locker, unique_name());
        all.push_back(lock.acquire(asio::use_future).get());
    }
    return all;
}

// Counts the handlers that have run, so that another handler can wait for them.
class gathering {
public:
    void arrive()
    {
        const std::lock_guard lock(mutex_);
        ++arrived_;
        changed_.notify_all();
    }

    bool wait_for(std::size_t count)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, hang_limit, [&] { return arrived_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t arrived_ = 0;
};

// Handlers block all threads except one. That thread runs all other handlers.
void block_some(std::size_t blocking, std::size_t threads)
{
    constexpr std::size_t leases = 8;
    asio::thread_pool pool(threads);
    holdfast::locker locker(pool.get_executor(), any_backend());
    std::vector<lease> all = take_leases(locker, leases);
    std::atomic<std::size_t> begun = 0, timed_out = 0;
    gathering others;
    for (const lease& each : all)
        each.lost([&](error_code) {
            if (begun++ >= blocking)
                others.arrive();
            else if (!others.wait_for(leases - blocking))
                ++timed_out;
        });
    locker.close(asio::detached);
    BOOST_TEST(others.wait_for(leases - blocking));
    all.clear();
    pool.join();
    BOOST_TEST(begun == leases);
    BOOST_TEST(timed_out == 0u);
}

BOOST_AUTO_TEST_CASE(a_blocked_handler_does_not_delay_others)
{
    block_some(1, 4);
}

BOOST_AUTO_TEST_CASE(several_blocked_handlers_do_not_delay_others_while_a_thread_is_free)
{
    block_some(3, 4);
}

void keep_busy(std::chrono::milliseconds length)
{
    const auto end = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < end) {
    }
}

// The first of `count` handlers is slow: results wait so long that the locker makes no attempts.
// The last handler acquires once more.
void be_slow(std::size_t count)
{
    scene s(any_backend(), 1);
    lock_options options;
    options.wait = 2s; // ends before the leases are renewed, which would wake the locker
    const holdfast::lock later(s.locker(), unique_name(), options);
    call<lease> wait;
    std::vector<lease> all;
    for (std::size_t i = 0; i < count; ++i)
        holdfast::lock(s.locker(), unique_name()).acquire([&](error_code ec, lease granted) {
            BOOST_TEST(!ec, ec.message());
            all.push_back(std::move(granted));
            if (all.size() == 1)
                keep_busy(60ms);
            if (all.size() == count)
                later.acquire(wait.token());
        });
    run_until(s.io, [&] { return wait.done(); });
    BOOST_TEST(!wait.error(), wait.error().message());
}

// The locker must go on when all results are delivered, even if nothing else happens then.
BOOST_AUTO_TEST_CASE(a_slow_handler_delays_later_attempts_no_longer_than_it_runs)
{
    for (std::size_t count = 1; count <= 40; ++count)
        be_slow(count);
}

BOOST_DATA_TEST_CASE(close_completes_after_the_waits_that_it_ends, every_backend(), each)
{
    scene s(each.make(), 2);
    const std::string name = unique_name();
    call<lease> holds;
    holdfast::lock(s.locker(0), name).acquire(holds.token());
    run_until(s.io, [&] { return holds.done(); });
    constexpr std::size_t count = 50;
    std::size_t ended = 0;
    lock_options patient;
    patient.wait = forever;
    for (std::size_t i = 0; i < count; ++i)
        holdfast::lock(s.locker(1), name, patient).acquire([&](error_code ec, lease) {
            BOOST_TEST((ec == errc::closed));
            ++ended;
        });
    std::optional<std::size_t> ended_before;
    s.locker(1).close([&](error_code) { ended_before = ended; });
    run_until(s.io, [&] { return ended_before.has_value(); });
    BOOST_TEST(ended_before.value_or(0) == count);
}

// Asio does so in its destructor since Boost 1.88.
BOOST_DATA_TEST_CASE(context_is_shut_down_twice, every_backend(), each)
{
    struct context : asio::io_context {
        ~context() { shutdown(); }
    };
    auto io = std::make_unique<context>();
    call<lease> waits;
    {
        locker l(io->get_executor(), each.make());
        holdfast::lock(l, unique_name()).acquire(waits.token());
    }
    io.reset();
    BOOST_TEST(!waits.done());
}

struct failure : std::runtime_error {
    explicit failure(std::size_t n) : std::runtime_error("handler"), which(n) {}
    std::size_t which;
};

// Runs the context to its end. Returns the failures that it has thrown, one by one.
std::vector<std::size_t> failures_of(asio::io_context& io)
{
    std::vector<std::size_t> all;
    for (;;) {
        try {
            io.run();
            return all;
        } catch (const failure& e) {
            all.push_back(e.which);
        }
    }
}

// As with operations of Asio: not combined into one `multiple exceptions`.
BOOST_DATA_TEST_CASE(exceptions_of_handlers_are_thrown_one_by_one, every_backend(), each)
{
    constexpr std::size_t count = 50;
    scene s(each.make(), 1);
    std::vector<lease> all(count);
    std::size_t acquired = 0;
    for (lease& to : all)
        holdfast::lock(s.locker(), unique_name()).acquire([&](error_code ec, lease granted) {
            BOOST_TEST(!ec, ec.message());
            to = std::move(granted);
            ++acquired;
        });
    run_until(s.io, [&] { return acquired == count; });
    std::vector<std::size_t> told, expected;
    for (std::size_t i = 0; i < count; ++i) {
        expected.push_back(i);
        all[i].lost([&told, i](error_code) {
            told.push_back(i);
            throw failure(i);
        });
    }
    std::size_t closed = 0;
    s.locker().close([&](error_code) { ++closed; });
    all.clear();
    s.io.restart();
    auto thrown = failures_of(s.io);
    std::sort(thrown.begin(), thrown.end());
    BOOST_TEST(thrown == expected, boost::test_tools::per_element());
    BOOST_TEST(told.size() == count);
    BOOST_TEST(closed == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
