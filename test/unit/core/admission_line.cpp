// The line of attempts that wait for admission.
#include "core/admission_line.hpp"

#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

struct line_fixture {
    static constexpr duration node_timeout = 500ms;

    admission_line line;
    std::vector<attempt_load> loads;
    time_point now = start;

    void fill()
    {
        while (line.lets_pass(now))
            loads.push_back(line.began());
    }
    void answer_one()
    {
        line.answered(loads.back(), now, node_timeout, now);
        loads.pop_back();
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_admission_line, line_fixture)

BOOST_AUTO_TEST_CASE(attempts_pass_until_the_limit_is_reached)
{
    BOOST_TEST((line.wake_at() == never));
    fill();
    BOOST_TEST(loads.size() == line.limit().bound());
    BOOST_TEST(line.limit().under_way() == loads.size());
    answer_one();
    BOOST_TEST(line.lets_pass(now));
}

// First come, first served; those that leave are skipped, at any position.
BOOST_AUTO_TEST_CASE(the_line_keeps_its_order)
{
    std::vector<slot_id> places;
    for (slot_id who = 1; who <= 6; ++who)
        places.push_back(line.join(who, now));
    for (const std::size_t leaving : {0u, 3u, 5u})
        line.leave(places[leaving]);
    line.join(7, now);
    for (const slot_id expected : {2u, 3u, 5u, 7u})
        BOOST_TEST(line.next(now) == expected);
    BOOST_TEST(line.is_empty());
    BOOST_TEST(line.next(now) == 0u);
}

// No attempt overtakes the line, and it moves only as attempts end.
BOOST_AUTO_TEST_CASE(the_line_moves_as_attempts_end)
{
    fill();
    line.join(1, now);
    line.join(2, now);
    BOOST_TEST(line.next(now) == 0u);
    line.abandon(loads.back(), node_timeout, now); // without a delay so far, it ends at once
    loads.pop_back();
    BOOST_TEST(!line.lets_pass(now));
    BOOST_TEST(line.next(now) == 1u);
    loads.push_back(line.began());
    BOOST_TEST(line.next(now) == 0u);
    answer_one();
    BOOST_TEST(line.next(now) == 2u);
}

// A parked attempt takes no place, and its end says nothing about the load.
BOOST_AUTO_TEST_CASE(parked_attempts_do_not_count)
{
    fill();
    const std::size_t bound = line.limit().bound();
    for (attempt_load& l : loads)
        line.park(l);
    BOOST_TEST(line.limit().under_way() == 0u);
    line.park(loads[0]); // again
    BOOST_TEST(line.limit().under_way() == 0u);
    line.answered(loads[0], now, node_timeout, now + 10s);
    line.abandon(loads[1], node_timeout, now + 10s);
    BOOST_TEST(line.limit().under_way() == 0u);
    BOOST_TEST(line.limit().bound() == bound);
    BOOST_TEST((loads[0] == attempt_load::none && loads[1] == attempt_load::none));
}

BOOST_AUTO_TEST_CASE(the_number_of_parked_attempts_is_limited)
{
    for (std::size_t i = 0; i < admission_line::most_parked; ++i) {
        BOOST_REQUIRE(line.has_room_to_park());
        loads.push_back(line.began());
        line.park(loads.back());
    }
    BOOST_TEST(!line.has_room_to_park());
    answer_one();
    BOOST_TEST(line.has_room_to_park());
}

// If nothing answers, attempts pause, and those in line wait for the end of the pause.
BOOST_AUTO_TEST_CASE(a_cut_off_line_waits_for_the_pause)
{
    while (!line.limit().is_cut_off()) {
        attempt_load load = line.began();
        line.unanswered(load, now, node_timeout, 1s, now);
        BOOST_TEST((load == attempt_load::none));
    }
    BOOST_TEST(!line.lets_pass(now));
    line.join(1, now);
    BOOST_TEST((line.wake_at() == now + 1s));
    BOOST_TEST(line.next(now) == 0u);
    BOOST_TEST(line.next(now + 1s) == 1u);
}

// A line that stands for too long refuses newcomers, until it is empty.
BOOST_AUTO_TEST_CASE(a_standing_line_refuses_newcomers)
{
    for (slot_id who = 1; who <= 100; ++who)
        line.join(who, now);
    for (int i = 0; i < 20; ++i) { // 10 a second
        now += 100ms;
        line.next(now);
        line.admitted(now);
    }
    BOOST_TEST(line.refuses(2s, now));
    BOOST_TEST(!line.refuses(1h, now));
    while (line.next(now) != 0)
        line.admitted(now);
    BOOST_TEST(!line.refuses(2s, now));
}

BOOST_AUTO_TEST_SUITE_END()
