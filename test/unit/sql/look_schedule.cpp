#include "sql/look_schedule.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::sql;
using core::duration;
using core::time_point;

namespace {

constexpr time_point start{1000s};

BOOST_AUTO_TEST_SUITE(sql_look_schedule)

BOOST_AUTO_TEST_CASE(the_first_looks_every_few_milliseconds_and_less_often_if_nothing_changes)
{
    look_schedule looks(1);
    for (int i = 0; i < 1000; ++i) {
        const time_point now = start + i * 10ms;
        const duration soon = looks.for_turn({0, now}, now) - now;
        BOOST_TEST((soon >= 750us && soon <= 2ms));
        const duration later = looks.for_turn({0, now - 10s}, now) - now;
        BOOST_TEST((later >= 3750us && later <= 6ms));
    }
}

BOOST_AUTO_TEST_CASE(the_more_wait_before_it_the_later_it_looks)
{
    look_schedule looks(1);
    for (const std::int64_t ahead : {0, 1, 3, 7, 99}) {
        const duration most = 1ms * (ahead + 1);
        const duration pause = looks.for_turn({ahead, start}, start) - start;
        BOOST_TEST((pause >= most - most / 4 && pause <= most + 1ms), ahead);
    }
    BOOST_TEST((looks.for_turn({1'000'000, start}, start) - start <= 101ms));
}

// If turns go on as before, half of the time to its own turn has passed then.
BOOST_AUTO_TEST_CASE(the_longer_turns_take_the_later_it_looks)
{
    look_schedule looks(1);
    const auto pause = [&](std::int64_t ahead, duration turn) {
        return looks.for_turn({ahead, start, turn}, start) - start;
    };
    BOOST_TEST((pause(6, 5ms) >= 11ms && pause(6, 5ms) <= 16ms));
    BOOST_TEST((pause(6, 10s) <= 31ms)); // not for long: turns may become shorter
    BOOST_TEST((pause(0, 2ms) <= 2ms));
    BOOST_TEST((pause(0, 10s) >= 3750us && pause(0, 10s) <= 6ms));
}

BOOST_AUTO_TEST_CASE(a_place_knows_how_long_turns_have_taken)
{
    place at;
    at.found(7, start);
    BOOST_TEST((at.moved_at == start && at.turn == 0ms));
    at.found(7, start + 3ms);
    BOOST_TEST((at.moved_at == start && at.turn == 0ms));
    at.found(5, start + 8ms);
    BOOST_TEST((at.moved_at == start + 8ms && at.turn == 4ms));
    at.found(4, start + 10ms);
    BOOST_TEST((at.turn == 3ms));
    at.found(9, start + 20ms); // it has lost its place, and has another one
    BOOST_TEST((at.ahead == 9 && at.moved_at == start + 20ms && at.turn == 3ms));
}

// However many wait: the more they are, the less often each looks.
BOOST_AUTO_TEST_CASE(a_crowd_looks_no_more_often_than_a_server_bears)
{
    look_schedule looks(1);
    constexpr int crowd = 100'000;
    std::multimap<time_point, int> due;
    for (int i = 0; i < crowd; ++i)
        due.emplace(looks.for_turn({0, start}, start), i);
    std::vector<int> looked(crowd);
    int all = 0, statements = 0;
    time_point last{};
    while (due.begin()->first < start + 20s) {
        const auto [at, waiter] = *due.begin();
        due.erase(due.begin());
        statements += at != last ? 1 : 0;
        last = at;
        ++all;
        ++looked[static_cast<std::size_t>(waiter)];
        due.emplace(looks.for_turn({0, start}, at), waiter);
    }
    BOOST_TEST(all <= 20 * 20'000);
    BOOST_TEST(all >= 20 * 19'000);       // none of the room is lost
    BOOST_TEST(statements <= 20 * 1'001); // they gather
    const auto [least, most] = std::minmax_element(looked.begin(), looked.end());
    BOOST_TEST(*least >= 3); // and take turns
    BOOST_TEST(*most <= 5);
}

// With more waiters than looks until their places are to be refreshed: those that refresh them
// take no room.
BOOST_AUTO_TEST_CASE(a_crowd_does_not_plan_ahead_of_what_it_does_first)
{
    look_schedule looks(1);
    constexpr int crowd = 100'000;
    constexpr duration refresh = 3s;
    struct waiter {
        time_point at, refresh_at;
    };
    const auto later = [](const waiter& a, const waiter& b) {
        return a.at > b.at;
    };
    std::priority_queue<waiter, std::vector<waiter>, decltype(later)> due(later);
    for (int i = 0; i < crowd; ++i)
        due.push({start + refresh * i / crowd, start + refresh * i / crowd});
    int looked = 0, refreshed = 0;
    bool in_time = true;
    while (due.top().at < start + 2min) {
        waiter next = due.top();
        due.pop();
        if (next.at < next.refresh_at) {
            ++looked;
        } else {
            ++refreshed;
            next.refresh_at = next.at + refresh;
        }
        const time_point now = next.at;
        next.at = looks.for_turn({0, start}, now, next.refresh_at);
        in_time = in_time && next.at > now && next.at <= next.refresh_at;
        due.push(next);
    }
    BOOST_TEST(in_time);
    BOOST_TEST(looked <= 120 * 20'000);
    BOOST_TEST(looked >= 110 * 20'000);
    BOOST_TEST(refreshed >= crowd * 39);
    const time_point now = start + 2min;
    BOOST_TEST((looks.for_turn({0, now}, now) - now <= refresh + 2ms));
}

BOOST_AUTO_TEST_CASE(a_place_that_is_refreshed_first_takes_no_room)
{
    look_schedule looks(1);
    for (int i = 0; i < 1000; ++i)
        BOOST_TEST((looks.for_turn({0, start}, start, start + 500us) == start + 500us));
    BOOST_TEST((looks.for_turn({0, start}, start) - start <= 2ms));
}

BOOST_AUTO_TEST_CASE(a_lonely_waiter_has_room_again_after_a_crowd)
{
    look_schedule looks(1);
    for (int i = 0; i < 1000; ++i)
        looks.for_turn({0, start}, start);
    BOOST_TEST((looks.for_turn({0, start}, start) - start >= 50ms));
    const time_point later = start + 1s;
    BOOST_TEST((looks.for_turn({0, later}, later) - later <= 2ms));
}

BOOST_AUTO_TEST_CASE(lockers_have_different_rounds)
{
    look_schedule one(1), two(2);
    BOOST_TEST((one.for_turn({0, start}, start).time_since_epoch() % look_schedule::round !=
                two.for_turn({0, start}, start).time_since_epoch() % look_schedule::round));
}

BOOST_AUTO_TEST_CASE(a_holder_looks_for_waiters)
{
    look_schedule looks(1);
    const duration pause = looks.for_others(start) - start;
    BOOST_TEST((pause >= 15ms && pause <= 21ms));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
