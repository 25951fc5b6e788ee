// The readers of a process, and how one of them enters for all.
#include "recipes/reader_entry.hpp"
#include "recipes/reader_room.hpp"
#include "unit/recipes/steps.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::recipes;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::make_error_code;

namespace {

constexpr auto open_for = 100ms;

struct room_of_readers {
    template <class Report>
    std::string report(Report make)
    {
        using kind = reader_room::step::kind;
        reader_room::steps wanted;
        make(wanted);
        std::string text;
        for (const auto& s : wanted) {
            text += text.empty() ? "" : ", ";
            const std::string who = std::to_string(s.who);
            switch (s.what) {
            case kind::admit:
                text += "admit " + who;
                break;
            case kind::refuse:
                text += "refuse " + who + (s.why ? ": " + name_of(s.why) : "");
                break;
            case kind::enter:
                text += s.once ? "try to enter" : "enter";
                break;
            case kind::cancel_entry:
                text += "cancel";
                break;
            case kind::leave_slot:
                text += "leave";
                break;
            }
        }
        return text;
    }

    std::string arrive(reader_room::reader who, std::chrono::milliseconds when = 0ms,
        std::chrono::milliseconds until = 10s)
    {
        return report([&](auto& out) { room.arrive(who, false, at(until), at(when), out); });
    }
    std::string try_to_arrive(reader_room::reader who, std::chrono::milliseconds when = 0ms)
    {
        return report(
            [&](auto& out) { room.arrive(who, true, holdfast::core::never, at(when), out); });
    }
    std::string entered(bool new_slot = true, std::chrono::milliseconds when = 0ms)
    {
        slot_held = true;
        return report([&](auto& out) { room.entered(new_slot, at(when), out); });
    }
    std::string failed(errc why, std::chrono::milliseconds when)
    {
        return report([&](auto& out) { room.entry_failed(make_error_code(why), at(when), out); });
    }
    std::string leave(reader_room::visit which)
    {
        return report([&](auto& out) { room.leave(which, out); });
    }
    std::string abandon(reader_room::reader who)
    {
        return report([&](auto& out) { room.abandon(who, out); });
    }
    std::string expire(std::chrono::milliseconds when)
    {
        return report([&](auto& out) { room.expire(at(when), out); });
    }

    bool slot_held = false;
    reader_room room{open_for, [this] {
                         return slot_held;
                     }};
};

BOOST_AUTO_TEST_SUITE(reader_room_)

BOOST_AUTO_TEST_CASE(one_reader_enters_for_all_that_wait)
{
    room_of_readers r;
    BOOST_TEST(r.arrive(1) == "enter");
    BOOST_TEST(r.arrive(2) == "");
    BOOST_TEST(r.entered() == "admit 1, admit 2");
    BOOST_TEST(r.leave(1) == "");
    BOOST_TEST(r.leave(1) == "leave");
    BOOST_TEST(!r.room.occupied());
}

BOOST_AUTO_TEST_CASE(others_join_for_a_while)
{
    room_of_readers r;
    r.arrive(1);
    r.entered();
    BOOST_TEST(r.arrive(2, 99ms) == "admit 2");
    BOOST_TEST(r.try_to_arrive(3, 99ms) == "admit 3");
    BOOST_TEST(r.arrive(4, 100ms) == "enter"); // behind writers that wait at the gate
    BOOST_TEST(r.entered(false, 150ms) == "admit 4");
    BOOST_TEST(r.arrive(5, 249ms) == "admit 5");
    BOOST_TEST(r.room.current() == 1u);
}

BOOST_AUTO_TEST_CASE(nobody_joins_readers_whose_lease_is_lost)
{
    room_of_readers r;
    r.arrive(1);
    r.entered();
    r.room.lost(1);
    BOOST_TEST(r.arrive(2, 1ms) == "enter");
    BOOST_TEST(r.entered() == "admit 2");
    BOOST_TEST(r.leave(1) == ""); // of the earlier visit
    BOOST_TEST(r.leave(2) == "leave");
}

// A process that was paused has not been told yet.
BOOST_AUTO_TEST_CASE(the_clock_says_that_a_lease_is_lost)
{
    room_of_readers r;
    r.arrive(1);
    r.entered();
    r.slot_held = false;
    BOOST_TEST(r.arrive(2, 1ms) == "enter");
    BOOST_TEST(!r.room.occupied());
    r.entered();
    BOOST_TEST(r.leave(1) == "");
    BOOST_TEST(r.leave(2) == "leave");
}

BOOST_AUTO_TEST_CASE(a_failed_entry_is_told_to_those_that_waited_as_long)
{
    room_of_readers r;
    r.arrive(1, 0ms, 1s);
    r.arrive(2, 500ms, 1500ms);
    BOOST_TEST(r.failed(errc::unreachable, 1s) == "refuse 1: unreachable, enter");
    BOOST_TEST(r.failed(errc::contended, 1500ms) == "refuse 2: contended");
}

BOOST_AUTO_TEST_CASE(an_early_error_is_told_to_all)
{
    room_of_readers r;
    r.arrive(1, 0ms, 1s);
    r.arrive(2, 0ms, 2s);
    BOOST_TEST(r.failed(errc::closed, 10ms) == "refuse 1: closed, refuse 2: closed");
}

BOOST_AUTO_TEST_CASE(a_reader_with_less_time_is_refused_in_time)
{
    room_of_readers r;
    r.arrive(1, 0ms, 2s);
    BOOST_TEST((r.room.next_deadline() == holdfast::core::never)); // the entry tells it
    r.arrive(2, 0ms, 1s);
    BOOST_TEST((r.room.next_deadline() == at(1s)));
    BOOST_TEST(r.expire(1s) == "refuse 2: contended");
    BOOST_TEST(r.expire(2s) == "refuse 1: contended, cancel");
}

BOOST_AUTO_TEST_CASE(a_try_does_not_wait_behind_others)
{
    room_of_readers r;
    BOOST_TEST(r.try_to_arrive(1) == "try to enter");
    BOOST_TEST(r.try_to_arrive(2) == "refuse 2");
    r.arrive(3);
    BOOST_TEST(
        r.report([&](auto& out) { r.room.entry_failed({}, at(1ms), out); }) == "refuse 1, enter");
}

BOOST_AUTO_TEST_CASE(an_entry_for_nobody_is_cancelled)
{
    room_of_readers r;
    r.arrive(1);
    r.arrive(2);
    BOOST_TEST(r.abandon(1) == "");
    BOOST_TEST(r.abandon(2) == "cancel");
    BOOST_TEST(r.arrive(3) == "enter");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(reader_entry_)

constexpr std::size_t slots = 2, gate = 2;

struct entering {
    explicit entering(patience limit) : entry(r.room, board, limit, 100ms, 0) {}

    std::string begin()
    {
        return said([this](steps& out) { entry.begin(at(0s), out); });
    }
    std::string granted(std::size_t lock, const lease_view& leases = good_leases)
    {
        return said([&](steps& out) { entry.granted(lock, at(1s), leases, out); });
    }
    // Grants the slot that it tries first.
    std::string granted_first(const lease_view& leases)
    {
        return granted(tried.back() == '0' ? 0 : 1, leases);
    }

    room_of_readers r;
    slot_board board{slots};
    std::string tried;
    reader_entry entry;
};

BOOST_AUTO_TEST_CASE(it_takes_a_slot_behind_the_gate)
{
    entering e({.until = at(10s)});
    BOOST_TEST(e.begin() == "wait 2");
    e.tried = e.granted(gate);
    BOOST_TEST(e.tried.substr(0, 4) == "try ");
    BOOST_TEST(e.granted_first(good_leases) == "succeed " + e.tried.substr(4));
}

BOOST_AUTO_TEST_CASE(a_slot_that_is_granted_after_the_gate_was_lost_does_not_count)
{
    entering e({.until = at(10s)});
    e.begin();
    e.tried = e.granted(gate);
    BOOST_TEST(e.granted_first(no_leases) == "drop 0, drop 1, drop 2, wait 2");
}

BOOST_AUTO_TEST_CASE(readers_inside_keep_their_slot)
{
    entering e({.until = at(10s)});
    e.r.arrive(1);
    e.r.entered();
    e.begin();
    BOOST_TEST(e.granted(gate) == "succeed 2");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
