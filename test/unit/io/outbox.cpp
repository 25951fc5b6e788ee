// Calls that are made later, in order.
#include "io/outbox.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <condition_variable>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace holdfast;
using io::outbox;

namespace {

struct outbox_fixture {
    using kind = outbox::kind;

    asio::io_context context;
    std::shared_ptr<outbox> calls = std::make_shared<outbox>(context.get_executor());
    std::string made;

    void add(const std::string& name)
    {
        calls->add([this, name] { made += name; }, kind::frequent);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(io_outbox, outbox_fixture)

BOOST_AUTO_TEST_CASE(calls_are_made_later_and_in_order)
{
    add("a");
    calls->add(
        [this] {
            made += "b";
            add("d"); // not inside this call
            made += "c";
        },
        kind::frequent);
    BOOST_TEST(made == "");
    context.run();
    BOOST_TEST(made == "abcd");
    add("e"); // begins again
    context.restart();
    context.run();
    BOOST_TEST(made == "abcde");
}

BOOST_AUTO_TEST_CASE(an_exception_reaches_the_caller_of_run_and_loses_no_call)
{
    add("a");
    calls->add([] { throw std::runtime_error("first"); }, kind::rare);
    add("b");
    calls->add([] { throw std::runtime_error("second"); }, kind::rare);
    add("c");
    BOOST_CHECK_THROW(context.run(), std::runtime_error);
    BOOST_TEST(made == "a");
    BOOST_CHECK_THROW(context.run(), std::runtime_error);
    context.run();
    BOOST_TEST(made == "abc");
}

// Other work of the context is not kept waiting by many calls.
BOOST_AUTO_TEST_CASE(a_turn_is_short)
{
    for (int i = 0; i < 1000; ++i)
        add("a");
    std::size_t before = 0;
    asio::post(context, [&] { before = made.size(); });
    context.run();
    BOOST_TEST(made.size() == 1000u);
    BOOST_TEST(before <= 64u);
}

BOOST_AUTO_TEST_CASE(calls_beyond_the_limit_are_dropped_and_counted)
{
    for (std::size_t i = 0; i < outbox::most + 5; ++i)
        add("a");
    BOOST_TEST(calls->dropped() == 5u);
    context.run();
    BOOST_TEST(made.size() == outbox::most);
    add("b");
    context.restart();
    context.run();
    BOOST_TEST(made.back() == 'b');
    BOOST_TEST(calls->dropped() == 5u);
}

// One turn of a locker can fill the backlog with waits that end. What matters more still fits.
BOOST_AUTO_TEST_CASE(rare_events_have_a_reserve)
{
    for (std::size_t i = 0; i < outbox::most; ++i)
        add("a");
    for (std::size_t i = 0; i < outbox::reserve; ++i)
        calls->add([this] { made += "b"; }, kind::rare);
    BOOST_TEST(calls->dropped() == 0u);
    add("c");
    calls->add([this] { made += "d"; }, kind::rare);
    BOOST_TEST(calls->dropped() == 2u);
    context.run();
    BOOST_TEST(made == std::string(outbox::most, 'a') + std::string(outbox::reserve, 'b'));
}

// A span's destructor is the user's, and the caller of add() holds locks.
BOOST_AUTO_TEST_CASE(ends_of_spans_are_never_dropped)
{
    constexpr std::size_t count = 20'000;
    const auto span = std::make_shared<int>(0);
    for (std::size_t i = 0; i < count; ++i)
        calls->add([span] { ++*span; }, kind::end_of_span);
    for (std::size_t i = 0; i < outbox::most; ++i) // ends take no room from events
        add("a");
    calls->add([span] { ++*span; }, kind::end_of_span);
    BOOST_TEST(span.use_count() == 2 + count);
    BOOST_TEST(calls->dropped() == 0u);
    context.run();
    BOOST_TEST(*span == 1 + count);
    BOOST_TEST(made.size() == outbox::most);
    BOOST_TEST(span.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(an_end_after_the_stop_is_kept_and_not_made)
{
    auto span = std::make_shared<int>(0);
    const std::weak_ptr<int> alive = span;
    calls->stop();
    calls->add([span = std::move(span)] { ++*span; }, kind::end_of_span);
    BOOST_TEST(!alive.expired());
    context.run();
    BOOST_REQUIRE(!alive.expired());
    BOOST_TEST(*alive.lock() == 0);
    calls.reset();
    BOOST_TEST(alive.expired());
}

BOOST_AUTO_TEST_CASE(no_call_is_made_after_the_stop)
{
    add("a");
    BOOST_TEST(calls->stop().size() == 1u);
    add("b");
    context.run();
    BOOST_TEST(made == "");
}

BOOST_AUTO_TEST_CASE(a_call_is_destroyed_without_the_mutex)
{
    struct adder {
        outbox_fixture& to;
        ~adder() { to.add("b"); }
    };
    calls->add([this, last = std::make_shared<adder>(*this)] { made += "a"; }, kind::frequent);
    context.run();
    BOOST_TEST(made == "ab");
}

// On many threads, too: one call at a time. And a call that blocks keeps one thread only.
BOOST_AUTO_TEST_CASE(one_call_at_a_time_on_many_threads)
{
    asio::thread_pool pool(4);
    const auto box = std::make_shared<outbox>(pool.get_executor());
    constexpr std::size_t count = 2000;
    std::vector<std::size_t> order; // would be a race
    std::mutex mutex;
    std::condition_variable changed;
    bool others = false;
    box->add(
        [&] {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return others; });
        },
        kind::rare);
    asio::post(pool, [&] {
        const std::lock_guard lock(mutex);
        others = true;
        changed.notify_all();
    });
    for (std::size_t i = 0; i < count; ++i)
        box->add([&order, i] { order.push_back(i); }, kind::frequent);
    pool.join();
    BOOST_REQUIRE(order.size() == count);
    for (std::size_t i = 0; i < count; ++i)
        BOOST_REQUIRE(order[i] == i);
}

BOOST_AUTO_TEST_SUITE_END()
