// multi_lock: several locks acquired together.
#include "contract/backend_contract.hpp"

#include <holdfast/multi_lock.hpp>

#include <boost/asio/detached.hpp>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(multi_locks)

std::vector<resource> three_of(const scene& s)
{
    return {s.resource + ":c", s.resource + ":a", s.resource + ":b"};
}

holdfast::lock member(scene& s, std::size_t locker, const char* name, lock_options options = {})
{
    return holdfast::lock(s.locker(locker), s.resource + name, options);
}

task expect_free(scene& s, std::size_t locker, const char* name)
{
    lease next = co_await member(s, locker, name).acquire(5s);
    BOOST_TEST(next.held());
}

task take_all_three(scene& s, bool has_tokens)
{
    const multi_lock all(s.locker(0), three_of(s));
    multi_lease held = co_await all.acquire();
    BOOST_TEST(bool(held));
    BOOST_TEST(held.held());
    BOOST_TEST(held.members().size() == 3u);
    BOOST_TEST(held.members()[0].resource() == s.resource + ":a");
    BOOST_TEST(held.fence(s.resource + ":b").has_value() == has_tokens);
    BOOST_TEST(!held.fence("other"));
    auto earliest = steady::time_point::max();
    for (const lease& each : held.members())
        earliest = std::min(earliest, each.valid_until());
    // Each call converts between two clocks.
    BOOST_TEST((std::chrono::abs(held.valid_until() - earliest) < 1ms));

    for (const char* const name : {":a", ":b", ":c"}) {
        lease other = co_await member(s, 1, name).try_acquire();
        BOOST_TEST(!other);
    }
    multi_lease none = co_await multi_lock(s.locker(1), three_of(s)).try_acquire();
    BOOST_TEST(!none);
    BOOST_TEST(!none.held());

    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
    BOOST_TEST(!held);
    multi_lease next = co_await multi_lock(s.locker(1), three_of(s)).try_acquire();
    BOOST_TEST(next.held());
}

BOOST_DATA_TEST_CASE(all_are_taken_and_released_together, every_backend(), each)
{
    play(each.make(), 2, [&](scene& s) { return take_all_three(s, each.has_tokens); });
}

task take_none(scene& s)
{
    lease middle = co_await member(s, 0, ":b").acquire();
    const multi_lock all(s.locker(1), three_of(s));
    multi_lease none = co_await all.try_acquire();
    BOOST_TEST(!none);
    co_await expect_free(s, 0, ":a");
    co_await expect_free(s, 0, ":c");

    const auto begin = steady::now();
    auto [ec, timed_out] = co_await all.acquire(1s, no_throw);
    BOOST_TEST(ec == errc::contended);
    BOOST_TEST(!timed_out);
    BOOST_TEST((steady::now() - begin >= 1s));
    co_await expect_free(s, 0, ":a");

    call<multi_lease> waiting;
    all.acquire(20s, waiting.token());
    // It has the first and waits for the second.
    while (s.locker(1).stats().held != 1 || s.locker(1).stats().waiting != 1)
        co_await pause(1ms);
    co_await expect_free(s, 0, ":c"); // what comes later in the order is not kept meanwhile
    lease first = co_await member(s, 0, ":a").try_acquire();
    BOOST_TEST(!first); // what comes earlier is
    co_await middle.release();
    while (!waiting.done())
        co_await pause(1ms);
    BOOST_TEST(!waiting.error(), waiting.error().message());
    BOOST_TEST(waiting.result<multi_lease>().held());
}

BOOST_DATA_TEST_CASE(none_is_kept_if_one_is_missing, every_backend(), each)
{
    play(each.make(), 2, take_none);
}

task cancel_a_wait(scene& s)
{
    lease last = co_await member(s, 0, ":c").acquire();
    for (const auto type : {asio::cancellation_type::total, asio::cancellation_type::terminal}) {
        call<multi_lease> waiting;
        multi_lock(s.locker(1), three_of(s)).acquire(forever, waiting.token());
        co_await pause(type == asio::cancellation_type::total ? 0ms : 50ms);
        waiting.cancel(type);
        while (!waiting.done())
            co_await pause(1ms);
        BOOST_TEST(waiting.error() == aborted);
        BOOST_TEST(!waiting.result<multi_lease>());
        BOOST_TEST(waiting.completions() == 1);
        co_await expect_free(s, 0, ":a");
        co_await expect_free(s, 0, ":b");
    }
}

BOOST_DATA_TEST_CASE(a_wait_can_be_cancelled, every_backend(), each)
{
    play(each.make(), 2, cancel_a_wait);
}

task lose_one(scene& s, const subject& of)
{
    std::vector<holdfast::lock> members{
        member(s, 0, ":a"), member(s, 1, ":b", warned_early()), member(s, 0, ":c")};
    const multi_lock all(std::move(members)); // of two lockers
    multi_lease held = co_await all.acquire();
    call<> lost, given_up;
    held.lost(lost.token());
    held.lost(given_up.token());
    given_up.cancel();
    const auto ends = held.valid_until();
    while (!lost.done())
        co_await pause(1ms);
    BOOST_TEST_CONTEXT(of)
    {
        BOOST_TEST((steady::now() < ends));
        BOOST_TEST(lost.error() == errc::lease_lost);
        BOOST_TEST(given_up.error() == aborted);
    }
    while (held.held())
        co_await pause(1ms);
    BOOST_TEST_CONTEXT(of)
    {
        BOOST_TEST(held.members()[0].held());
    }
    const release_outcome outcome = co_await held.release();
    BOOST_TEST_CONTEXT(of)
    {
        BOOST_TEST(outcome == release_outcome::expired); // the worst
    }
    lease next = co_await member(s, 1, ":a").acquire(5s);
    BOOST_TEST_CONTEXT(of)
    {
        BOOST_TEST(next.held());
    }
}

BOOST_AUTO_TEST_CASE(the_loss_of_one_is_the_loss_of_all)
{
    play_on_all(2, lose_one);
}

task hold_them(scene& s)
{
    const multi_lock all(s.locker(0), three_of(s));
    auto body = [](multi_lease& held) -> asio::awaitable<int> {
        BOOST_TEST(held.held());
        co_return 42;
    };
    const int value = co_await all.hold(body, asio::use_awaitable);
    BOOST_TEST(value == 42);
    co_await expect_free(s, 1, ":a");

    std::vector<holdfast::lock> members{member(s, 0, ":a"), member(s, 0, ":b", unrenewed())};
    const multi_lock short_lived(std::move(members));
    bool stopped = false;
    auto endless = [&stopped](multi_lease&) -> asio::awaitable<void> {
        try {
            co_await pause(30s);
        } catch (const boost::system::system_error&) {
            stopped = true;
            throw;
        }
    };
    error_code why;
    std::string text;
    try {
        co_await short_lived.hold(endless);
    } catch (const boost::system::system_error& e) {
        why = e.code();
        text = e.what();
    }
    BOOST_TEST(why == errc::lease_lost);
    BOOST_TEST(stopped);
    BOOST_TEST(text.find(":a") != std::string::npos, text);
    BOOST_TEST(text.find(":b") != std::string::npos, text);
    co_await expect_free(s, 1, ":a");
    co_await expect_free(s, 1, ":b");
}

BOOST_DATA_TEST_CASE(work_can_be_done_under_all_of_them, every_backend(), each)
{
    play(each.make(), 2, hold_them);
}

// The body gives one member back and goes on under the others.
task lose_one_of_the_rest(scene& s)
{
    std::vector<holdfast::lock> members{member(s, 0, ":a"), member(s, 0, ":b", warned_early())};
    const multi_lock both(std::move(members));
    bool stopped = false;
    auto endless = [&stopped](multi_lease& held) -> asio::awaitable<void> {
        co_await held.members()[0].release();
        const auto ends = held.members()[1].valid_until();
        try {
            co_await pause(hang_limit / 2);
        } catch (const boost::system::system_error&) {
            stopped = steady::now() < ends;
            throw;
        }
    };
    error_code why;
    try {
        co_await both.hold(endless);
    } catch (const boost::system::system_error& e) {
        why = e.code();
    }
    BOOST_TEST(stopped);
    BOOST_TEST(why == errc::lease_lost);
    co_await expect_free(s, 1, ":a");
    co_await expect_free(s, 1, ":b");
}

BOOST_DATA_TEST_CASE(
    the_loss_of_a_member_stops_a_body_that_gave_another_back_early, every_backend(), each)
{
    play(each.make(), 2, lose_one_of_the_rest);
}

BOOST_AUTO_TEST_CASE(wrong_members_are_refused)
{
    scene s(any_backend(), 2);
    using members = std::vector<holdfast::lock>;
    BOOST_CHECK_THROW(multi_lock(s.locker(), {}), std::invalid_argument);
    BOOST_CHECK_THROW(multi_lock(members{}), std::invalid_argument);
    BOOST_CHECK_THROW(multi_lock(s.locker(), {"a", "b", "a"}), std::invalid_argument);
    BOOST_CHECK_THROW(multi_lock(s.locker(), {"a", ""}), std::invalid_argument);
    BOOST_CHECK_THROW(multi_lock(members{s.lock(0), s.lock(1)}), std::invalid_argument);
    // A member that is given back because another one is missing would stay locked.
    lock_options resting;
    resting.min_hold = 1s;
    lock_options lingering;
    lingering.linger = 1s;
    for (const lock_options& each : {resting, lingering}) {
        BOOST_CHECK_THROW(multi_lock(s.locker(), {"a", "b"}, each), std::invalid_argument);
        BOOST_CHECK_THROW(
            multi_lock(members{s.lock(0), lock(s.locker(), "b", each)}), std::invalid_argument);
    }
    s.finish();
}

BOOST_AUTO_TEST_CASE(operations_on_an_empty_object_fail)
{
    play(any_backend(), 1, [](scene& s) -> task {
        multi_lease none;
        BOOST_TEST((none.valid_until() == steady::time_point::min()));
        BOOST_TEST(none.members().empty());
        auto [lost] = co_await none.lost(no_throw);
        BOOST_TEST(lost == errc::not_held);
        auto [ec, outcome] = co_await none.release(no_throw);
        BOOST_TEST(ec == errc::not_held);

        multi_lease held = co_await multi_lock(s.locker(), three_of(s)).acquire();
        auto later = held.lost(); // not initiated yet
        none = std::move(held);   // moves what is held
        BOOST_TEST(none.held());
        none = multi_lease(); // gives it back
        auto [released] = co_await std::move(later)(no_throw);
        BOOST_TEST(released == errc::not_held);
        co_await expect_free(s, 0, ":a");
    });
}

// A client that wants some of ten resources, in a random order. The resources are used by one
// client at a time.
task want_some(scene& s, unsigned seed, std::vector<bool>& used, std::size_t& left, bool& failed)
{
    std::minstd_rand random(seed);
    std::vector<std::size_t> order(used.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    order.resize(2 + random() % 4);
    std::vector<resource> names;
    for (const std::size_t each : order)
        names.emplace_back(s.resource + ":" + std::to_string(each));
    lock_options options;
    options.wait = forever;
    const multi_lock some(s.locker(seed % 2), std::move(names), options);
    multi_lease held = co_await some.acquire();
    for (const std::size_t each : order) {
        failed = failed || used[each] || !held.held();
        used[each] = true;
    }
    co_await asio::post(s.io, asio::use_awaitable);
    for (const std::size_t each : order)
        used[each] = false;
    co_await held.release();
    --left;
}

BOOST_AUTO_TEST_CASE(a_thousand_clients_with_ten_resources_in_random_orders_end)
{
    scene s(any_backend(), 2);
    std::vector<bool> used(10);
    std::size_t left = 1000;
    bool failed = false;
    for (unsigned i = 0; i < 1000; ++i)
        asio::co_spawn(s.io, want_some(s, i + 1, used, left, failed), asio::detached);
    run_until(s.io, [&] { return left == 0; });
    BOOST_TEST(!failed);
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
