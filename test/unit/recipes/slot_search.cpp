#include "recipes/slot_search.hpp"

#include "support/times.hpp"
#include "unit/recipes/steps.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::recipes;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::make_error_code;

namespace {

constexpr auto interval = 100ms;
constexpr patience until_10s{.once = false, .until = at(10s)};
constexpr patience once{.once = true};

struct searching {
    searching(slot_board& board, patience limit, std::uint64_t random = 0)
        : search(board, limit, interval, random)
    {}

    std::string begin()
    {
        return said([this](steps& out) { search.begin(at(0s), out); });
    }
    std::string granted(std::size_t slot)
    {
        return said([&](steps& out) { search.granted(slot, at(1ms), no_leases, out); });
    }
    std::string refused(
        std::size_t slot, holdfast::error_code why = {}, std::chrono::milliseconds when = 1ms)
    {
        return said([&](steps& out) { search.refused(slot, why, at(when), out); });
    }
    std::string woken(std::chrono::milliseconds when)
    {
        return said([&](steps& out) { search.woken(at(when), out); });
    }

    slot_search search;
};

BOOST_AUTO_TEST_SUITE(slot_search_)

BOOST_AUTO_TEST_CASE(it_tries_each_slot_once_from_a_random_one_on)
{
    slot_board board(3);
    searching s(board, once, 4);
    BOOST_TEST(s.begin() == "try 1");
    BOOST_TEST(s.refused(1) == "try 2");
    BOOST_TEST(s.refused(2) == "try 0");
    BOOST_TEST(s.refused(0) == "give up");
}

BOOST_AUTO_TEST_CASE(it_takes_the_first_free_slot)
{
    slot_board board(3);
    searching s(board, until_10s);
    BOOST_TEST(s.begin() == "try 0");
    BOOST_TEST(s.refused(0) == "try 1");
    BOOST_TEST(s.granted(1) == "succeed 1");
}

BOOST_AUTO_TEST_CASE(it_waits_in_more_and_more_queues_and_tries_the_others_again)
{
    slot_board board(4);
    searching s(board, until_10s);
    s.begin();
    s.refused(0);
    s.refused(1);
    s.refused(2);
    BOOST_TEST(s.refused(3) == "wait 0, wake 101");
    BOOST_TEST(s.woken(101ms) == "wait 1, try 2");
    BOOST_TEST(s.refused(2) == "try 3");
    BOOST_TEST(s.granted(3) == "succeed 3");
    BOOST_TEST(board.waiting(0) == 1u);
    s.search.end();
    BOOST_TEST(!board.waited_for(0));
    BOOST_TEST(!board.waited_for(1));
}

BOOST_AUTO_TEST_CASE(calls_of_one_process_spread_over_the_slots)
{
    slot_board board(3);
    board.join(0);
    board.join(1);
    board.join(1);
    searching s(board, until_10s);
    BOOST_TEST(s.begin() == "try 2"); // the others are for those that wait there
    BOOST_TEST(s.refused(2) == "wait 2, wake 101");
    BOOST_TEST(s.woken(101ms) == "wait 0, wake 201");
}

BOOST_AUTO_TEST_CASE(it_does_not_wait_in_more_queues_than_a_few)
{
    slot_board board(20);
    for (std::size_t i = 0; i < 20; ++i)
        board.join(i); // so it tries none
    searching s(board, until_10s);
    s.begin();
    for (int i = 1; i < 6; ++i)
        s.woken(i * interval);
    std::size_t places = 0;
    for (std::size_t i = 0; i < 20; ++i)
        places += board.waiting(i) - 1;
    BOOST_TEST(places == slot_search::most_places);
}

BOOST_AUTO_TEST_CASE(without_time_it_does_not_wait)
{
    slot_board board(2);
    searching s(board, {.once = false, .until = at(0s)});
    s.begin();
    s.refused(0);
    BOOST_TEST(s.refused(1) == "give up: contended");
}

BOOST_AUTO_TEST_CASE(after_an_error_it_waits_for_better_nodes)
{
    slot_board board(3);
    searching s(board, until_10s);
    s.begin();
    BOOST_TEST(s.refused(0, make_error_code(errc::unreachable)) == "wait 0, wake 101");
    BOOST_TEST(s.refused(0, make_error_code(errc::closed)) == "give up: closed");
    BOOST_TEST(!board.waited_for(0));
}

// Otherwise a try beside it would pass over a slot that nobody can get any more, and find no error.
BOOST_AUTO_TEST_CASE(it_does_not_wait_for_a_closed_locker)
{
    slot_board board(1);
    searching s(board, until_10s);
    BOOST_TEST(s.begin() == "try 0");
    BOOST_TEST(s.refused(0, make_error_code(errc::closed)) == "give up: closed");
    BOOST_TEST(!board.waited_for(0));
}

BOOST_AUTO_TEST_CASE(a_try_tells_an_error_at_once)
{
    slot_board board(3);
    searching s(board, once);
    s.begin();
    BOOST_TEST(s.refused(0, make_error_code(errc::unreachable)) == "give up: unreachable");
}

BOOST_AUTO_TEST_CASE(an_error_of_one_slot_does_not_end_the_wait_for_another)
{
    slot_board board(2);
    searching s(board, until_10s);
    s.begin();
    s.refused(0);
    s.refused(1);
    s.woken(101ms);
    BOOST_TEST(s.refused(0, make_error_code(errc::key_conflict)) == "");
    BOOST_TEST(s.refused(1, make_error_code(errc::contended)) == "give up: contended");
}

// The wake of a search that the performer does not know to be over.
BOOST_AUTO_TEST_CASE(a_stale_wake_does_not_disturb_a_try)
{
    slot_board board(3);
    searching s(board, until_10s);
    s.begin();
    BOOST_TEST(s.woken(50ms) == "");
    BOOST_TEST(s.refused(0) == "try 1");
    BOOST_TEST(s.refused(1) == "try 2");
    BOOST_TEST(s.refused(2) == "wait 0, wake 101");
    BOOST_TEST(board.waiting(0) == 1u);
    s.search.end();
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST(!board.waited_for(i));
}

BOOST_AUTO_TEST_CASE(it_does_not_go_on_trying_after_its_time)
{
    slot_board board(4);
    searching s(board, {.once = false, .until = at(150ms)});
    s.begin();
    s.refused(0);
    s.refused(1);
    s.refused(2);
    BOOST_TEST(s.refused(3) == "wait 0, wake 101");
    BOOST_TEST(s.woken(101ms) == "wait 1, try 2");
    BOOST_TEST(s.refused(0, make_error_code(errc::contended), 150ms) == "");
    BOOST_TEST(s.refused(1, make_error_code(errc::contended), 150ms) == "");
    BOOST_TEST(s.refused(2, {}, 151ms) == "give up: contended");
}

BOOST_AUTO_TEST_CASE(the_first_sweep_tries_all_slots_whatever_the_time)
{
    slot_board board(3);
    searching s(board, {.once = false, .until = at(0s)});
    BOOST_TEST(s.begin() == "try 0");
    BOOST_TEST(s.refused(0, {}, 50ms) == "try 1");
    BOOST_TEST(s.refused(1, {}, 60ms) == "try 2");
}

BOOST_AUTO_TEST_CASE(it_passes_over_slots_with_other_data)
{
    const auto conflict = make_error_code(errc::key_conflict);
    slot_board board(3);
    searching s(board, until_10s);
    s.begin();
    BOOST_TEST(s.refused(0, conflict) == "try 1");
    BOOST_TEST(s.refused(1) == "try 2");
    BOOST_TEST(s.refused(2, conflict) == "wait 1, wake 101");
    BOOST_TEST(s.woken(101ms) == "try 0"); // there is no other queue to wait in
    BOOST_TEST(s.refused(0) == "try 2");   // the data were removed
    BOOST_TEST(s.refused(2, conflict) == "wake 101");
    BOOST_TEST(s.woken(201ms) == "wait 0, try 2");
    BOOST_TEST(s.refused(2, conflict) == "wake 101");
    BOOST_TEST(s.refused(1, conflict) == "");
    BOOST_TEST(s.refused(0, conflict) == "give up: key conflict");
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST(!board.waited_for(i));
}

BOOST_AUTO_TEST_CASE(it_waits_elsewhere_when_its_only_queue_ends_with_other_data)
{
    slot_board board(2);
    searching s(board, until_10s);
    s.begin();
    s.refused(0);
    BOOST_TEST(s.refused(1) == "wait 0, wake 101");
    BOOST_TEST(s.refused(0, make_error_code(errc::key_conflict)) == "wait 1");
    BOOST_TEST(!board.waited_for(0));
    BOOST_TEST(s.granted(1) == "succeed 1");
}

BOOST_AUTO_TEST_CASE(a_try_tells_of_other_data_only_if_all_slots_have_some)
{
    const auto conflict = make_error_code(errc::key_conflict);
    slot_board board(2);
    searching taken(board, once);
    taken.begin();
    BOOST_TEST(taken.refused(0, conflict) == "try 1");
    BOOST_TEST(taken.refused(1) == "give up");
    searching all(board, once);
    all.begin();
    all.refused(0, conflict);
    BOOST_TEST(all.refused(1, conflict) == "give up: key conflict");
}

BOOST_AUTO_TEST_CASE(without_time_other_data_in_a_slot_does_not_hide_that_others_are_taken)
{
    slot_board board(2);
    searching s(board, {.once = false, .until = at(0s)});
    s.begin();
    BOOST_TEST(s.refused(0, make_error_code(errc::key_conflict)) == "try 1");
    BOOST_TEST(s.refused(1) == "give up: contended");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
