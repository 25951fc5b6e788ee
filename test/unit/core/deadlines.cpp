#include "core/deadlines.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <random>
#include <vector>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(core_deadlines)

// Without deadlines there is nothing to wait for, and taking away what is not there does nothing.
BOOST_AUTO_TEST_CASE(empty)
{
    deadlines d;
    d.erase(5);
    d.set(5, never);
    BOOST_TEST(d.earliest() == never);
    BOOST_TEST(!d.pop_due(never).has_value());
    BOOST_TEST(d.size() == 0u);
}

// A deadline is due at its moment, not before, once; and `never` takes it away.
BOOST_AUTO_TEST_CASE(due_once)
{
    deadlines d;
    d.set(3, at(10ms));
    BOOST_TEST(!d.pop_due(at(10ms) - 1ns).has_value());
    BOOST_TEST((d.pop_due(at(10ms)) == 3u));
    BOOST_TEST(!d.pop_due(at(10ms)).has_value());
    d.set(3, at(20ms));
    d.set(3, never);
    BOOST_TEST(d.earliest() == never);
}

// The same as an ordered map, in any order of operations.
BOOST_AUTO_TEST_CASE(as_a_map_would)
{
    for (unsigned seed = 1; seed <= 50; ++seed) {
        std::mt19937 random(seed);
        deadlines d;
        std::map<deadlines::key, time_point> model;
        const auto earliest = [&] {
            time_point first = never;
            for (const auto& [k, when] : model)
                first = std::min(first, when);
            return first;
        };
        for (int i = 0; i < 2000; ++i) {
            const auto k = static_cast<deadlines::key>(random() % 64);
            const time_point when = at(1ms * static_cast<int>(random() % 100));
            switch (random() % 4) {
            case 0:
                d.erase(k);
                model.erase(k);
                break;
            case 1: {
                const time_point first = earliest();
                const auto popped = d.pop_due(when);
                BOOST_REQUIRE(popped.has_value() == (first <= when));
                if (popped) {
                    BOOST_REQUIRE(model.at(*popped) == first);
                    model.erase(*popped);
                }
                break;
            }
            default:
                d.set(k, when);
                model[k] = when;
            }
            BOOST_REQUIRE(d.size() == model.size());
            BOOST_REQUIRE(d.earliest() == earliest());
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
