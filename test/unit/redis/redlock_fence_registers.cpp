// Registers of nodes in fenced mode that are lost, spoilt, or ahead of the clocks, over scripted
// nodes.
#include "unit/redis/fence_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_SUITE(redlock_fence_registers, connected_fence)

// A register is ahead of the clocks by more than any ballot may be: a clock was set back. For a
// while the node does not count. The others may suffice.
BOOST_AUTO_TEST_CASE(a_register_that_is_ahead_of_the_clocks)
{
    ask(7);
    grant_behind(0, 8000);
    BOOST_TEST(reason(0) == "a register in hf:f is too far ahead of the clocks of the nodes for "
                            "another 1 s");
    BOOST_TEST(core->nodes().stats()[0].last_error == make_error_code(errc::fencing_unavailable));
    BOOST_TEST(core->nodes().stats()[0].connected);
    grant(1);
    BOOST_TEST(requests(0) == ""); // it causes no second round
    BOOST_TEST(requests(1) == "");
    grant(2);
    BOOST_TEST(events() == granted(7, 0));
}

// The largest register that is followed.
BOOST_AUTO_TEST_CASE(a_register_that_is_as_far_ahead_as_permitted)
{
    ask(7);
    grant_behind(0, 7999);
    grant_behind(1, 100);
    BOOST_TEST(requests(0) == "ballot 8000");
    BOOST_TEST(reason(0) == "");
}

// If that leaves no majority, the refusal is temporary: the clocks go on. The longest time that is
// waited for is a quarantine with twice `ahead`, or a minute.
BOOST_AUTO_TEST_CASE(a_majority_of_registers_that_are_ahead)
{
    ask(7);
    grant_behind(0, 8000);
    grant_behind(1, 63'000 * 8 - 1);
    BOOST_TEST(events() == "7 refused: fencing_unavailable, passes");
    BOOST_TEST(reason(1).ends_with("for another 62 s"));
    for (std::size_t i = 0; i < 2; ++i)
        BOOST_TEST((requests(i) == "delete" || requests(i) == "pass"));
}

BOOST_AUTO_TEST_CASE(a_majority_of_registers_that_are_far_ahead)
{
    ask(7);
    grant_behind(0, 63'000 * 8);
    BOOST_TEST(events() == "");
    grant_behind(1, 1'000'000'000);
    BOOST_TEST(events() == "7 refused: fencing_unavailable");
    BOOST_TEST(reason(1) == "a register in hf:f is too far ahead of the clocks of the nodes for "
                            "another 125000 s");
}

// A client that knows only the node whose clock is ahead has used them. That passes by itself, also
// if it takes longer than a short quarantine.
BOOST_AUTO_TEST_CASE(clocks_that_differ_by_more_than_a_short_quarantine_are_waited_for)
{
    fence_fixture f(3, {.quarantine = 1s, .ahead = 10ms});
    f.connect();
    f.ask(7);
    f.grant_behind(0, 60'000 * 8);
    f.grant_behind(1, 60'000 * 8);
    BOOST_TEST(f.events() == "7 refused: fencing_unavailable, passes");
}

// The reason is no longer true once the node accepts a ballot.
BOOST_AUTO_TEST_CASE(a_register_that_was_ahead)
{
    ask(7);
    grant_behind(0, 8000);
    grant(1);
    grant(2);
    pass(10ms);
    ask(8, 'y', "B");
    key(0);
    BOOST_TEST(reason(0) != "");
    accept(0);
    BOOST_TEST(reason(0) == "");
}

// A node without registers refuses each ballot, after FLUSHALL. It is opened again at once, which
// makes them, and does not count.
BOOST_AUTO_TEST_CASE(a_node_that_has_lost_its_registers)
{
    ask(7);
    key(0);
    refuse(0);
    BOOST_TEST(requests(0) == "largest");
    answer(0, "largest", "_\r\n");
    BOOST_TEST(requests(0) == "open");
    grant(1);
    BOOST_TEST(requests(1) == ""); // no second round
    grant(2);
    BOOST_TEST(events() == granted(7, 0));
    opened(0, 60'000);
    BOOST_TEST(reason(0).starts_with("in quarantine for another 60 s"));
    ask(8, 'y', "B");
    BOOST_TEST(requests(0) == "");
}

// Also if the attempt has ended before that is known: the next one needs the registers, too.
BOOST_AUTO_TEST_CASE(a_node_that_has_lost_its_registers_answers_an_attempt_that_has_ended)
{
    const auto id = ask(7);
    key(0);
    refuse(0);
    core->abandon(id, now);
    run();
    answer(0, "largest", "_\r\n");
    BOOST_TEST(requests(0) == "delete, open");
    answer(0, ":1\r\n");
    opened(0);
}

// The time to answer counts from when the register was asked for. Else an attempt would never have
// enough time where three round trips take longer than that.
BOOST_AUTO_TEST_CASE(a_register_has_the_time_of_an_answer)
{
    ask(7);
    pass(25ms);
    for (std::size_t i = 0; i < 3; ++i)
        key(i);
    pass(20ms);
    for (std::size_t i = 0; i < 3; ++i)
        refuse(i);
    pass(20ms); // 65 ms after the first request
    BOOST_TEST(events() == "");
    for (std::size_t i = 0; i < 3; ++i)
        largest(i, 600);
    BOOST_TEST(requests() == "ballot 601");
    for (std::size_t i = 0; i < 2; ++i)
        accept(i);
    BOOST_TEST(events() == granted(7, 601, 923));
}

// The same in RESP2, and while it is being opened anyway.
BOOST_AUTO_TEST_CASE(a_node_is_not_opened_twice_at_a_time)
{
    ask(7);
    ask(8, 'y', "B");
    BOOST_TEST(requests(0) == "set x, ballot 0, set y, ballot 0");
    for (int i = 0; i < 2; ++i) {
        key(0);
        refuse(0);
    }
    BOOST_TEST(requests(0) == "largest, largest");
    answer(0, "largest", "$-1\r\n");
    BOOST_TEST(requests(0) == "largest, open");
    answer(0, "largest", "$-1\r\n");
    BOOST_TEST(requests(0) == "open");
}

// A quarantine follows, and it ends: the wait for the lock goes on.
BOOST_AUTO_TEST_CASE(a_majority_that_has_lost_its_registers_does_so_for_a_while)
{
    ask(7);
    for (std::size_t i = 0; i < 2; ++i) {
        key(i);
        refuse(i);
        answer(i, "largest", "_\r\n");
    }
    BOOST_TEST(events() == "7 refused: fencing_unavailable, passes");
}

// A spoilt register must be corrected by a person.
BOOST_AUTO_TEST_CASE(registers_without_sense)
{
    for (const char* const bytes : {",nan\r\n", ",inf\r\n", ",-1\r\n", ",9.1e15\r\n", "+x\r\n",
             "$0\r\n\r\n", ":5\r\n", "*0\r\n"}) {
        connected_fence f;
        f.ask(7);
        for (std::size_t i = 0; i < 2; ++i) {
            f.key(i);
            f.refuse(i);
            f.answer(i, "largest", bytes);
        }
        BOOST_TEST(f.events() == "7 refused: fencing_unavailable", bytes);
    }
}

// Scores are told in each of these forms. What is not whole is rounded up.
BOOST_AUTO_TEST_CASE(forms_of_a_score)
{
    for (const char* const bytes : {",13600000000100\r\n", "$14\r\n13600000000100\r\n",
             ",1.36000000001e+13\r\n", ",13600000000099.5\r\n"}) {
        connected_fence f;
        f.ask(7);
        f.grant_behind(0, 50);
        f.key(1);
        f.refuse(1);
        f.answer(1, "largest", bytes);
        BOOST_TEST(f.requests(0) == "ballot 101", bytes);
    }
}

// The key of the registers holds other data, or may not be read: the node must be corrected.
BOOST_AUTO_TEST_CASE(errors_of_registers)
{
    ask(7);
    key(0);
    answer(0, "ballot", "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n");
    key(1);
    refuse(1);
    answer(1, "largest", "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n");
    BOOST_TEST(events() == "7 refused: key_conflict");

    ask(8, 'y', "B");
    for (std::size_t i = 0; i < 2; ++i) {
        deleted(i);
        key(i);
        answer(i, "ballot", "-NOPERM this user has no permissions to run the 'zadd' command\r\n");
    }
    BOOST_TEST(events() == "8 refused: permission_denied");
}

// One node must be corrected, and another is ahead for a while: the outcome is open until that is
// over.
BOOST_AUTO_TEST_CASE(a_spoilt_register_and_one_that_is_ahead)
{
    ask(7);
    key(0);
    refuse(0);
    answer(0, "largest", ",nan\r\n");
    grant_behind(1, 8000);
    BOOST_TEST(events() == "7 refused: fencing_unavailable, passes");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
