#include "core/timer_queue.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <map>
#include <random>
#include <vector>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(core_timer_queue)

// An empty queue has no earliest timer. Erasing a key that it does not have does nothing.
BOOST_AUTO_TEST_CASE(empty)
{
    timer_queue d;
    d.erase(5);
    d.set(5, never);
    BOOST_TEST(d.earliest() == never);
    BOOST_TEST(!d.pop_due(never).has_value());
    BOOST_TEST(d.size() == 0u);
}

// A timer is due at its time, not before, and only once. Setting it to `never` removes it.
BOOST_AUTO_TEST_CASE(due_once)
{
    timer_queue d;
    d.set(3, at(10ms));
    BOOST_TEST(!d.pop_due(at(10ms) - 1ns).has_value());
    BOOST_TEST((d.pop_due(at(10ms)) == 3u));
    BOOST_TEST(!d.pop_due(at(10ms)).has_value());
    d.set(3, at(20ms));
    d.set(3, never);
    BOOST_TEST(d.earliest() == never);
}

// The time of an erased or moved deadline may still be the earliest. When it comes, nothing is due,
// and the earliest time is that of the next deadline.
BOOST_AUTO_TEST_CASE(erased_and_moved_deadlines_are_passed_over_when_they_come)
{
    timer_queue d;
    d.set(1, at(10ms));
    d.set(2, at(20ms));
    d.set(3, at(40ms));
    d.erase(1);
    d.set(2, at(30ms));
    BOOST_TEST(!d.pop_due(at(20ms)).has_value());
    BOOST_TEST((d.earliest() == at(30ms)));
    BOOST_TEST((d.pop_due(at(30ms)) == 2u));
    BOOST_TEST((d.earliest() == at(40ms)));
}

// Deadlines that are erased and set again, as those of attempts, need one entry for each key.
// Deadlines that move to and fro need a few more.
BOOST_AUTO_TEST_CASE(entries_are_bounded)
{
    constexpr timer_queue::key keys = 100;
    timer_queue d;
    for (int i = 0; i < 10'000; ++i) {
        for (timer_queue::key k = 1; k < keys; ++k) {
            d.set(k, at(10ms + 1us * i));
            d.erase(k - 1);
        }
    }
    BOOST_TEST(d.entries() == keys - 1);
    for (int i = 10'000; i > 0; --i) {
        for (timer_queue::key k = 0; k < keys; ++k) {
            d.set(k, at(1us * i));
            BOOST_REQUIRE(d.entries() <= 2 * keys + 64);
        }
    }
    for (timer_queue::key k = 0; k < keys; ++k)
        BOOST_TEST(d.pop_due(at(1us)).has_value());
    BOOST_TEST(!d.pop_due(never).has_value());
    BOOST_TEST(d.entries() == 0u);
}

// Without a deadline there is no entry either: nothing has to be passed over.
BOOST_AUTO_TEST_CASE(nothing_stays_of_the_last_deadline)
{
    timer_queue d;
    d.set(1, at(10ms));
    d.set(2, at(20ms));
    d.erase(2);
    d.erase(1);
    BOOST_TEST(d.entries() == 0u);
    d.set(1, at(30ms));
    BOOST_TEST((d.earliest() == at(30ms)));
    d.set(1, at(40ms)); // the only one moves
    BOOST_TEST((d.earliest() == at(40ms)));
    BOOST_TEST((d.pop_due(at(40ms)) == 1u));
    BOOST_TEST(d.entries() == 0u);
}

// Compares the queue with an ordered map.
struct compared {
    timer_queue d;
    std::map<timer_queue::key, time_point> model;

    time_point earliest() const
    {
        time_point first = never;
        for (const auto& [k, when] : model)
            first = std::min(first, when);
        return first;
    }
    void set(timer_queue::key k, time_point when)
    {
        d.set(k, when);
        model[k] = when;
    }
    void erase(timer_queue::key k)
    {
        d.erase(k);
        model.erase(k);
    }
    void pop(time_point now)
    {
        const time_point first = earliest();
        const auto popped = d.pop_due(now);
        BOOST_REQUIRE(popped.has_value() == (first <= now));
        if (popped) {
            BOOST_REQUIRE(model.at(*popped) == first);
            model.erase(*popped);
        }
    }
    void check() const
    {
        BOOST_REQUIRE(d.size() == model.size());
        BOOST_REQUIRE(d.earliest() <= earliest());
        BOOST_REQUIRE((d.earliest() == never) == model.empty());
    }
};

BOOST_AUTO_TEST_CASE(random_operations)
{
    for (unsigned seed = 1; seed <= 50; ++seed) {
        std::mt19937 random(seed);
        compared both;
        for (int i = 0; i < 2000; ++i) {
            const auto k = static_cast<timer_queue::key>(random() % 64);
            const time_point when = at(1ms * static_cast<int>(random() % 100));
            switch (random() % 4) {
            case 0:
                both.erase(k);
                break;
            case 1:
                both.pop(when);
                break;
            default:
                both.set(k, when);
            }
            both.check();
        }
    }
}

// A realistic load: time advances, timers have a few different lengths, and most are erased before
// they are due.
BOOST_AUTO_TEST_CASE(a_few_different_lengths)
{
    constexpr std::array lengths{5ms, 50ms, 3000ms, 10'000ms, 10'001ms, 20ms};
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        const std::size_t kinds = 1 + seed % lengths.size();
        compared both;
        auto now = 0us;
        for (int i = 0; i < 5000; ++i) {
            now += std::chrono::microseconds(random() % 2000);
            const auto k = static_cast<timer_queue::key>(random() % 100);
            if (random() % 3 == 0)
                both.erase(k);
            else
                both.set(k, at(now + lengths[random() % kinds]));
            while (both.earliest() <= at(now))
                both.pop(at(now));
            both.pop(at(now)); // no timer is due
            BOOST_REQUIRE(both.d.earliest() > at(now));
            both.check();
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
