#include "redis/claim/queue_place.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(redlock_queue_place)

// The ticket is made once, and used again.
BOOST_AUTO_TEST_CASE(begins_outside_of_the_queue)
{
    queue_place q;
    q.begin();
    BOOST_TEST(q.ticket.get() == nullptr);
    q.enter(2, at(900ms));
    const queue_ticket* const ticket = q.ticket.get();
    BOOST_REQUIRE(ticket != nullptr);
    q.asked();
    q.waits();
    q.has_turn(2);
    q.ticket->survey = 5;
    q.begin();
    BOOST_TEST(q.node == max_nodes);
    BOOST_TEST(!q.answer_due);
    BOOST_TEST(!q.has_waited);
    BOOST_TEST(!q.handed_over);
    BOOST_TEST(q.ticket.get() == ticket);
    BOOST_TEST(q.ticket->survey == 0u);
}

BOOST_AUTO_TEST_CASE(waits_for_its_turn)
{
    queue_place q;
    q.enter(1, at(900ms));
    BOOST_TEST(q.node == 1u);
    BOOST_TEST(q.ticket->asks_again_at == at(900ms));
    q.asked();
    BOOST_TEST(q.answer_due);
    BOOST_TEST(q.waits()); // for the first time
    BOOST_TEST(!q.answer_due);
    q.asked();
    BOOST_TEST(!q.waits());
    q.has_turn(0);
    BOOST_TEST(q.node == 0u);
    BOOST_TEST(q.handed_over);
}

// Only the present queue node tells us of changes of its key.
BOOST_AUTO_TEST_CASE(another_node_does_not_track_the_key)
{
    queue_place q;
    q.enter(1, at(900ms));
    q.tracked = true;
    q.enter(1, at(1900ms));
    BOOST_TEST(q.tracked);
    q.enter(2, at(2900ms));
    BOOST_TEST(!q.tracked);
}

// It asks again after the window, and asks for the owners of the key again.
BOOST_AUTO_TEST_CASE(keeps_out_of_a_window)
{
    queue_place q;
    q.enter(1, at(900ms));
    q.surveyed = true;
    q.asked();
    BOOST_TEST(q.waits_for_window(at(200ms), at(216ms)));
    BOOST_TEST(q.stays_out);
    BOOST_TEST(!q.answer_due);
    BOOST_TEST(!q.surveyed);
    BOOST_TEST(q.ticket->queue_node_held_until == at(200ms));
    BOOST_TEST(q.ticket->asks_again_at == at(900ms));
    BOOST_TEST(!q.waits_for_window(at(1000ms), at(1016ms)));
    BOOST_TEST(q.ticket->asks_again_at == at(1016ms));
    q.asked();
    BOOST_TEST(!q.stays_out);
}

// A look succeeds if all nodes say that no client waits.
BOOST_AUTO_TEST_CASE(a_look_for_waiters)
{
    waiter_look look;
    look.begin();
    BOOST_TEST(!look.is_under_way());
    look.asked();
    look.asked();
    look.answered(true);
    BOOST_TEST(look.is_under_way());
    BOOST_TEST(look.may_succeed());
    look.answered(false);
    BOOST_TEST(!look.is_under_way());
    BOOST_TEST(!look.may_succeed());
    look.begin();
    BOOST_TEST(look.may_succeed());
}

BOOST_AUTO_TEST_SUITE_END()
