#include "zookeeper/session.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using namespace holdfast;
using zookeeper_store::heartbeats;
using zookeeper_store::session;

namespace {

const core::time_point start{1h};

session begun()
{
    session s(12s);
    s.began({.timeout_ms = 12'000, .session = 7, .password = "p"}, start);
    return s;
}

BOOST_AUTO_TEST_SUITE(zookeeper_session)

BOOST_AUTO_TEST_CASE(a_new_session_lasts_from_the_request_for_it)
{
    const session s = begun();
    BOOST_TEST((s.ends() == start + 12s));
    BOOST_TEST((s.valid_for(12s, 10ms, start + 1s).until == start + 12s - 10ms));
    BOOST_TEST((s.valid_for(5s, 10ms, start + 1s).until == start + 6s - 10ms));
    BOOST_TEST((s.valid_for(60s, 10ms, start + 1s).ttl == 12s));
}

// The leader may not know of the last one: its server tells it later.
BOOST_AUTO_TEST_CASE(an_answer_confirms_the_heartbeat_before_it)
{
    session s = begun();
    s.kept().sent(start + 1s);
    BOOST_TEST(!s.confirm(start + 2s)); // of the request for the session, as before
    BOOST_TEST((s.ends() == start + 12s));
    s.kept().sent(start + 6s);
    BOOST_TEST(s.confirm(start + 7s));
    BOOST_TEST((s.ends() == start + 1s + 12s));
    s.kept().sent(start + 11s);
    BOOST_TEST(s.confirm(start + 12s));
    BOOST_TEST((s.ends() == start + 6s + 12s));
}

BOOST_AUTO_TEST_CASE(heartbeats_are_no_closer_than_a_quarter_of_the_timeout_after_an_answer)
{
    heartbeats h;
    BOOST_TEST((h.next_at(12s, false) == core::never));
    h.begin(start);
    BOOST_TEST((h.next_at(12s, false) == core::long_ago));
    h.sent(start);
    BOOST_TEST((h.next_at(12s, true) == core::never));
    h.answered(start + 500ms);
    BOOST_TEST((h.next_at(12s, false) == start + 4s));
    BOOST_TEST((h.next_at(12s, true) == start + 3500ms));
    h.sent(start + 4s);
    h.answered(start + 6s); // late: the next one is a quarter after that
    BOOST_TEST((h.next_at(12s, false) == start + 9s));
}

// The leader that has let the session in may have lost its majority since.
BOOST_AUTO_TEST_CASE(a_resumed_session_is_confirmed_by_its_first_heartbeat_alone)
{
    session s = begun();
    s.disconnected();
    s.resumed({.timeout_ms = 12'000, .session = 7, .password = "p"}, start + 5s);
    BOOST_TEST((s.ends() == start + 12s));
    BOOST_TEST((s.kept().next_at(12s, false) == core::long_ago));
    s.kept().sent(start + 6s);
    BOOST_TEST(s.confirm(start + 7s));
    BOOST_TEST((s.ends() == start + 5s + 12s));
}

BOOST_AUTO_TEST_CASE(a_heartbeat_of_an_earlier_connection_confirms_nothing)
{
    session s = begun();
    s.kept().sent(start + 4s);
    s.disconnected();
    s.resumed({.timeout_ms = 12'000, .session = 7, .password = "p"}, start + 5s);
    BOOST_TEST(!s.confirm(start + 6s)); // none is under way
    BOOST_TEST((s.ends() == start + 12s));
}

BOOST_AUTO_TEST_CASE(a_heartbeat_that_has_failed_proves_nothing)
{
    session s = begun();
    s.kept().sent(start + 1s);
    s.kept().failed();
    s.kept().sent(start + 2s);
    s.confirm(start + 2s);
    s.kept().sent(start + 6s);
    s.confirm(start + 6s);
    BOOST_TEST((s.ends() == start + 2s + 12s));
}

BOOST_AUTO_TEST_CASE(without_a_session_nothing_is_valid)
{
    session s = begun();
    s.lost();
    BOOST_TEST((s.valid_for(5s, 10ms, start).until == core::long_ago));
    BOOST_TEST(s.greeting(12s).session == 0);
    BOOST_TEST(s.greeting(12s).password == std::string(16, '\0'));
}

BOOST_AUTO_TEST_CASE(the_newest_transaction_is_told_to_the_next_server)
{
    session s = begun();
    s.saw(9);
    s.saw(-1); // of an event
    BOOST_TEST(s.greeting(12s).last_zxid == 9);
    BOOST_TEST(s.greeting(12s).session == 7);
    BOOST_TEST(s.greeting(12s).timeout_ms == 12'000);
}

// Servers with other bounds grant another timeout, and a new leader takes that of the beginning.
BOOST_AUTO_TEST_CASE(the_shortest_timeout_of_a_session_counts)
{
    session s = begun();
    BOOST_TEST(s.resumed({.timeout_ms = 8'000, .session = 7}, start + 1s));
    BOOST_TEST((s.ends() == start + 8s));
    BOOST_TEST(!s.resumed({.timeout_ms = 20'000, .session = 7}, start + 2s));
    BOOST_TEST((s.timeout() == 8s));
    s.lost();
    s.began({.timeout_ms = 20'000, .session = 8}, start + 3s);
    BOOST_TEST((s.timeout() == 20s));
}

// The servers count the timeout, not the ttl, by their clocks.
BOOST_AUTO_TEST_CASE(drift_is_subtracted_for_the_whole_timeout)
{
    const session s = begun();
    BOOST_TEST((s.valid_for(3s, 100ms, start + 11s).until == start + 12s - 400ms));
    BOOST_TEST((s.valid_for(3s, 100ms, start + 1s).until == start + 4s - 100ms));
}

// A server closes the connection of a client that has seen more than itself. If its data is lost,
// that would never end.
BOOST_AUTO_TEST_CASE(a_new_session_needs_no_transaction)
{
    session s = begun();
    s.saw(50);
    BOOST_TEST(s.greeting(12s).last_zxid == 50);
    BOOST_TEST(!s.is_past(start + 36s));
    BOOST_TEST(s.is_past(start + 36s + 1ms));
    s.lost();
    BOOST_TEST(s.greeting(12s).last_zxid == 0);
    BOOST_TEST(!s.is_past(start + 100s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
