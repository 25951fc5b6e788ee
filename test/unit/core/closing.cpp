// When a closing locker closes its connections.
#include "core/closing.hpp"

#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(core_closing)

BOOST_AUTO_TEST_CASE(it_ends_at_once_without_deletions)
{
    closing c;
    BOOST_TEST(!c.begun());
    c.begin();
    BOOST_TEST(c.begun());
    BOOST_TEST(!c.done());
    BOOST_TEST(c.ends(0, 0, start));
    BOOST_TEST(c.done());
    BOOST_TEST((c.wake_at() == never));
}

// The holders must stop at the earliest deadline, once.
BOOST_AUTO_TEST_CASE(a_drain_stops_the_holders_at_its_deadline)
{
    closing c;
    BOOST_TEST(!c.drains());
    BOOST_TEST(!c.stops_holders(at(1h)));
    c.drain(at(3s));
    c.drain(at(1s));
    c.drain(at(2s));
    BOOST_TEST(c.drains());
    BOOST_TEST(!c.begun());
    BOOST_TEST((c.wake_at() == at(1s)));
    BOOST_TEST(!c.stops_holders(at(1s) - 1ns));
    BOOST_TEST(c.stops_holders(at(1s)));
    BOOST_TEST(!c.stops_holders(at(2s)));
    BOOST_TEST((c.wake_at() == never));
}

// The end of a drain is reported once for each call, and ends its timer.
BOOST_AUTO_TEST_CASE(the_end_of_a_drain)
{
    closing c;
    BOOST_TEST(!c.ends_draining());
    c.drain(at(1s));
    BOOST_TEST(c.ends_draining());
    BOOST_TEST(!c.ends_draining());
    BOOST_TEST((c.wake_at() == never));
    c.drain(never);
    BOOST_TEST(c.ends_draining());
}

BOOST_AUTO_TEST_CASE(closing_ends_a_drain)
{
    closing c;
    c.drain(at(1s));
    c.begin();
    BOOST_TEST(c.drains());
    BOOST_TEST((c.wake_at() == never));
    BOOST_TEST(c.ends_draining());
}

BOOST_AUTO_TEST_CASE(the_backend_winds_up_once)
{
    closing c;
    c.begin();
    BOOST_TEST(c.winds_up());
    BOOST_TEST(!c.winds_up());
}

// Each confirmed deletion, and each byte that is sent, gives the others more time.
BOOST_AUTO_TEST_CASE(progress_extends_the_patience)
{
    closing c;
    c.begin();
    BOOST_TEST(!c.ends(2, 10, start));
    BOOST_TEST((c.wake_at() == start + closing::patience));
    BOOST_TEST(!c.ends(2, 10, at(100ms)));
    BOOST_TEST((c.wake_at() == start + closing::patience));
    BOOST_TEST(!c.ends(1, 10, at(200ms)));
    BOOST_TEST((c.wake_at() == at(200ms) + closing::patience));
    BOOST_TEST(!c.ends(1, 9, at(300ms)));
    BOOST_TEST((c.wake_at() == at(300ms) + closing::patience));
    BOOST_TEST(c.ends(0, 0, at(400ms)));
}

// Without progress it gives up, but not before all input up to then has been read.
BOOST_AUTO_TEST_CASE(silence_is_judged_by_what_was_read)
{
    closing c;
    c.begin();
    BOOST_TEST(!c.ends(1, 0, start));
    c.note_heard(at(499ms));
    BOOST_TEST(!c.ends(1, 0, at(2s)));
    c.note_heard(start + closing::patience);
    BOOST_TEST(c.ends(1, 0, at(2s)));
    BOOST_TEST(c.done());
}

BOOST_AUTO_TEST_SUITE_END()
