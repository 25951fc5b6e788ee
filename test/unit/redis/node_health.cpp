#include "redis/node/node_health.hpp"

#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

namespace holdfast::redis {
namespace {

struct health_fixture {
    node_health health;

    std::string reason() const { return health.stats().reason; }
    errc code() const { return static_cast<errc>(health.stats().last_error.value()); }
};

BOOST_FIXTURE_TEST_SUITE(redlock_node_health, health_fixture)

BOOST_AUTO_TEST_CASE(counters)
{
    health.on_ready("");
    health.on_sent();
    health.on_sent();
    health.on_sent();
    health.on_timeout();
    health.on_timeout();
    BOOST_TEST(health.stats().connects == 1u);
    BOOST_TEST(health.stats().commands == 3u);
    BOOST_TEST(health.stats().timeouts == 2u);
}

// A server that does not tell its run_id says nothing about a restart.
BOOST_AUTO_TEST_CASE(restarts)
{
    for (const char* const run_id : {"", "a", "a", "", "a"})
        health.on_ready(run_id);
    BOOST_TEST(health.stats().restarts == 0u);
    health.on_ready("b");
    health.on_ready("");
    health.on_ready("a");
    BOOST_TEST(health.stats().restarts == 2u);
    BOOST_TEST(health.stats().connects == 8u);
}

BOOST_AUTO_TEST_CASE(answers_and_errors)
{
    health.on_answered(std::chrono::microseconds(300));
    health.on_answered(std::chrono::microseconds(700));
    health.on_refused(request_kind::acquire, {errc::node_error, "full"});
    health.on_clock_jump();
    BOOST_TEST(health.stats().latency.count() == 2u);
    BOOST_TEST((health.stats().latency.sum() == std::chrono::milliseconds(1)));
    BOOST_TEST(health.stats().errors == 1u);
    BOOST_TEST(health.stats().clock_jumps == 1u);
}

// A timeout is forgotten with the next request that is executed. It does not hide what is known
// already.
BOOST_AUTO_TEST_CASE(a_timeout)
{
    health.on_timeout();
    BOOST_TEST((code() == errc::no_reply));
    health.on_done(request_kind::renew);
    BOOST_TEST((code() == errc{}));
    health.on_refused(request_kind::acquire, {errc::node_error, "full"});
    health.on_timeout();
    BOOST_TEST(reason() == "full");
}

// A node that refuses a request has to execute one of the same kind. Other kinds prove nothing.
BOOST_AUTO_TEST_CASE(a_refused_request)
{
    health.on_refused(request_kind::acquire, {errc::permission_denied, "no SET"});
    health.on_done(request_kind::remove);
    BOOST_TEST((code() == errc::permission_denied));
    health.on_done(request_kind::acquire);
    BOOST_TEST((code() == errc{}));
    BOOST_TEST(reason() == "");
}

// Another client's key without a ttl is no failure of the node. It is reported beside one.
BOOST_AUTO_TEST_CASE(a_key_that_never_ends)
{
    const std::string said = "the key a\\x0a was found without a ttl, so it does not end by itself";
    health.note_end("a\n", false);
    BOOST_TEST(reason() == said);
    BOOST_TEST((code() == errc{}));
    health.note_end("b", true); // another key
    BOOST_TEST(reason() == said);
    health.on_refused(request_kind::acquire, {errc::node_error, "full"});
    BOOST_TEST(reason() == "full; " + said);
    health.on_done(request_kind::acquire);
    health.note_end("a\n", true);
    BOOST_TEST(reason() == "");
    health.note_end("a\n", false);
    health.on_lost({errc::no_reply, "gone"});
    BOOST_TEST(reason() == "gone");
}

BOOST_AUTO_TEST_CASE(an_error_that_is_explained)
{
    health.on_refused(request_kind::owner, {errc::node_error, "WRONGTYPE"});
    health.explain("the key a is no lock: ");
    BOOST_TEST(reason() == "the key a is no lock: WRONGTYPE");
}

// A trouble is not a failure: requests that are executed do not end it, but its user does.
BOOST_AUTO_TEST_CASE(a_trouble)
{
    health.on_ready("");
    health.note_trouble({errc::fencing_unavailable, "a slow clock"});
    health.on_done(request_kind::acquire);
    BOOST_TEST((code() == errc::fencing_unavailable));
    BOOST_TEST(!health.last_failure().code);
    health.on_refused(request_kind::acquire, {errc::node_error, "full"});
    BOOST_TEST(reason() == "full");
    health.on_done(request_kind::acquire);
    BOOST_TEST(reason() == "a slow clock");
    health.note_trouble({});
    BOOST_TEST(reason() == "");
}

// The loss of a connection replaces all that was known, and is forgotten with the next connection.
BOOST_AUTO_TEST_CASE(a_lost_connection)
{
    health.note_trouble({errc::fencing_unavailable, "a slow clock"});
    health.on_refused(request_kind::acquire, {errc::node_error, "full"});
    health.on_lost({errc::no_reply, "silent"});
    BOOST_TEST(reason() == "silent");
    BOOST_TEST(!health.trouble().code);
    health.on_ready("");
    BOOST_TEST(reason() == "");
    health.on_timeout(); // has nothing to do with the earlier refusal
    health.on_done(request_kind::renew);
    BOOST_TEST(reason() == "");
}

// When it is closed for good, what was wrong before can still be read.
BOOST_AUTO_TEST_CASE(closed_for_good)
{
    health.on_lost({errc::closed, "the locker was closed"});
    health.on_shut({});
    BOOST_TEST(reason() == "the locker was closed");
    health.on_shut({errc::node_error, "full"});
    BOOST_TEST((code() == errc::node_error));
    BOOST_TEST(reason() == "full (before the locker was closed)");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::redis
