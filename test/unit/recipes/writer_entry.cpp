#include "recipes/writer_entry.hpp"

#include "unit/recipes/steps.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::recipes;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;

namespace {

constexpr std::size_t slots = 2, gate = 2;

struct entering {
    explicit entering(patience limit) : entry(slots, limit) {}

    std::string begin()
    {
        return said([this](steps& out) { entry.begin(at(0s), out); });
    }
    std::string granted(std::size_t lock, const lease_view& leases = good_leases)
    {
        return said([&](steps& out) { entry.granted(lock, at(1s), leases, out); });
    }
    std::string refused(std::size_t lock, holdfast::error_code why)
    {
        return said([&](steps& out) { entry.refused(lock, why, at(1s), out); });
    }

    writer_entry entry;
};

BOOST_AUTO_TEST_SUITE(writer_entry_)

BOOST_AUTO_TEST_CASE(it_takes_the_gate_and_has_each_slot_once)
{
    entering e({.until = at(10s)});
    BOOST_TEST(e.begin() == "wait 2");
    BOOST_TEST(e.granted(gate) == "wait 0, wait 1");
    BOOST_TEST(e.granted(1) == "drop 1");
    BOOST_TEST(e.granted(0) == "drop 0, succeed 2");
}

BOOST_AUTO_TEST_CASE(a_gate_that_was_lost_meanwhile_does_not_count)
{
    entering e({.until = at(10s)});
    e.begin();
    e.granted(gate);
    e.granted(0);
    BOOST_TEST(e.granted(1, no_leases) == "drop 1, drop 2, wait 2");
    BOOST_TEST(e.granted(gate) == "wait 0, wait 1");
    e.granted(0);
    BOOST_TEST(e.granted(1) == "drop 1, succeed 2");
}

BOOST_AUTO_TEST_CASE(without_time_left_a_lost_gate_is_too_late)
{
    entering e({.until = at(1s)});
    e.begin();
    e.granted(gate);
    e.granted(0);
    BOOST_TEST(e.granted(1, no_leases) == "drop 1, give up: too late");
}

BOOST_AUTO_TEST_CASE(a_try_does_not_wait)
{
    entering e({.once = true});
    BOOST_TEST(e.begin() == "try 2");
    BOOST_TEST(e.granted(gate) == "try 0, try 1");
    BOOST_TEST(e.refused(0, {}) == "give up");
}

BOOST_AUTO_TEST_CASE(readers_that_stay_end_the_wait)
{
    entering e({.until = at(10s)});
    e.begin();
    e.granted(gate);
    BOOST_TEST(e.refused(1, make_error_code(errc::contended)) == "give up: contended");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
