// Nodes that do not count in fenced mode, and the outcome of the attempt.
#include "unit/redis/fence_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using namespace redis::open_status;

// Nodes that are connected and have not been opened yet. Those of the test are opened with a
// result; the others remember everything.
struct opening_fence : fence_fixture {
    opening_fence() { run(); }

    void open(std::initializer_list<std::int64_t> results)
    {
        std::size_t i = 0;
        for (const std::int64_t each : results)
            opened(i++, each);
        for (; i < nodes.size(); ++i)
            opened(i);
        for (i = 0; i < nodes.size(); ++i) {
            while (requests(i).starts_with("record"))
                answer(i, "_\r\n");
        }
    }
};

BOOST_FIXTURE_TEST_SUITE(redlock_fence_troubles, opening_fence)

// A lock that another client holds is a refusal, as in plain mode.
BOOST_AUTO_TEST_CASE(another_client_holds_the_lock)
{
    open({});
    ask(7);
    taken(0);
    taken(1);
    BOOST_TEST(events() == "7 refused: contended");
}

// A quarantine ends by itself, so it must not end a wait. The node reports how long it lasts, and
// is asked for nothing until it ends.
BOOST_AUTO_TEST_CASE(nodes_in_quarantine)
{
    open({59'001, 1000});
    BOOST_TEST(core->nodes().stats()[0].last_error == make_error_code(errc::fencing_unavailable));
    BOOST_TEST(core->nodes().stats()[0].connected);
    BOOST_TEST(reason(0) == "in quarantine for another 60 s: it is new, or may have forgotten "
                            "leases and ballots");
    BOOST_TEST(reason(1).starts_with("in quarantine for another 1 s"));
    ask(7);
    BOOST_TEST(events() == "7 refused: fencing_unavailable, passes");
    for (std::size_t i = 0; i < 2; ++i)
        BOOST_TEST(requests(i) == "");
    grant(2);
    deleted(2);

    pass(1s - 1ns);
    ask(8);
    BOOST_TEST(requests(1) == "");
    BOOST_TEST(reason(0).starts_with("in quarantine for another 59 s"));
    grant(2);
    deleted(2);
    events();
    pass(1ns);
    ask(9);
    BOOST_TEST(requests(0) == "");
    BOOST_TEST(requests(1) == "set x, ballot 8000"); // it is not opened again
    grant(1);
    grant(2);
    BOOST_TEST(events() == granted(9, 8000));
    BOOST_TEST(reason(1) == "");
}

// The report is right whether or not locks are wanted.
BOOST_AUTO_TEST_CASE(the_end_of_a_quarantine_is_noticed)
{
    open({45'000, 20'000});
    pass(20s - 1ns);
    BOOST_TEST(reason(1) != "");
    pass(1ns);
    BOOST_TEST(reason(1) == "");
    BOOST_TEST(reason(0) != "");
    pass(25s);
    BOOST_TEST(reason(0) == "");
}

// One node in quarantine leaves a majority. If another one is silent, the reason is `unreachable`.
BOOST_AUTO_TEST_CASE(a_minority_in_quarantine)
{
    open({59'000});
    ask(7);
    grant(1);
    grant(2);
    BOOST_TEST(events() == granted(7, 0));
    ask(8, 'y');
    taken(1);
    BOOST_TEST(events() == "8 refused: contended");
    nodes[2].asked.clear();
    ask(9, 'z');
    pass(50ms);
    BOOST_TEST(events() == "9 refused: unreachable");
}

// An attempt may begin before a node is opened. Its ballot does not count if the node then tells of
// a quarantine, whatever the register has said.
BOOST_AUTO_TEST_CASE(a_quarantine_that_becomes_known_during_the_attempt)
{
    ask(7);
    BOOST_TEST(requests() == "open, record, set x, ballot 0");
    open({59'000, 59'000});
    for (std::size_t i = 0; i < 2; ++i) {
        BOOST_TEST(events() == "");
        grant(i);
    }
    BOOST_TEST(events() == "7 refused: fencing_unavailable, passes");
    for (std::size_t i = 0; i < 2; ++i)
        BOOST_TEST((requests(i) == "delete" || requests(i) == "pass"));
}

// The quarantine of a node that comes back begins with its greeting.
BOOST_AUTO_TEST_CASE(a_node_that_comes_back_in_quarantine)
{
    open({});
    pass(200ms); // a connection that lasts
    disconnect(0);
    run();
    BOOST_TEST(requests(0) == "open, record");
    opened(0, 60'000);
    BOOST_TEST(reason(0).starts_with("in quarantine for another 60 s"));
    BOOST_TEST(core->nodes().stats()[0].connected);
}

// Each connection begins anew: the node may be another one.
BOOST_AUTO_TEST_CASE(a_quarantine_ends_with_the_connection)
{
    open({60'000, 60'000});
    pass(200ms);
    disconnect(0);
    pass(100ms);
    opened(0);
    answer(0, "record", "_\r\n");
    ask(7);
    grant(0);
    grant(2);
    BOOST_TEST(events() == granted(7, 2400, 988));
}

// Clients with other settings: the text names both.
BOOST_AUTO_TEST_CASE(clients_that_disagree)
{
    opened(0, disagreed);
    BOOST_TEST(requests(0) == "record, record");
    const std::string ours = "ours are: quarantine 60000 ms, ahead 1000 ms";
    BOOST_TEST(reason(0) == "other clients have other settings of fencing; " + ours);
    answer(0, "+90000 2000 16384 node0 1700000000000\r\n");
    const std::string both = "other clients have other settings of fencing: quarantine 90000 ms, "
                             "ahead 2000 ms; " +
                             ours;
    BOOST_TEST(reason(0) == both);
    opened(1, disagreed);
    answer(1, "+60000 1000 4096 node1 1700000000000\r\n");
    BOOST_TEST(reason(1) == "other clients have other settings of fencing: they are of another "
                            "version, whose tokens do not fit ours; " +
                                ours);
    opened(2);
    ask(7);
    BOOST_TEST(events() == "7 refused: misconfigured_node");
    BOOST_TEST(core->nodes().stats()[0].connected);
    BOOST_TEST(reason(0) == both);
    BOOST_TEST(requests(0) == "record"); // it is not asked for the key
}

// A record that cannot be read is not guessed at.
BOOST_AUTO_TEST_CASE(records_without_sense)
{
    opened(0, disagreed);
    answer(0, "+90000 2000\r\n");
    BOOST_TEST(reason(0).starts_with("other clients have other settings of fencing; ours are"));
    answer(0, "-NOPERM no\r\n");
    BOOST_TEST(core->nodes().stats()[0].connected);
}

// A node that could not be opened is tried again, at most every 500 ms, and only if a lock is
// wanted: a person may have corrected the settings.
BOOST_AUTO_TEST_CASE(a_node_is_opened_again_if_a_lock_is_wanted)
{
    open({disagreed, disagreed, disagreed});
    pass(499ms);
    ask(7);
    BOOST_TEST(requests() == "");
    pass(60s);
    BOOST_TEST(requests() == "");
    BOOST_TEST(events() == "7 refused: misconfigured_node");
    ask(8);
    BOOST_TEST(requests() == "open");
    BOOST_TEST(events() == "8 refused: misconfigured_node");
    const auto id = ask(9); // it may be answered in time
    BOOST_TEST(requests().starts_with("open, set x, ballot "));
    for (std::size_t i = 0; i < 3; ++i) {
        opened(i);
        grant(i);
    }
    BOOST_TEST(events().starts_with("9 granted "));
    BOOST_TEST(reason(0) == "");
    release(id);
    ask(10);
    BOOST_TEST(requests().starts_with("set x, "));
}

// Data of another kind under our names.
BOOST_AUTO_TEST_CASE(keys_of_another_kind)
{
    opened(0, conflict);
    answer(1, "open",
        "-WRONGTYPE Operation against a key holding the wrong kind of value script: 0\r\n");
    opened(2);
    BOOST_TEST(reason(0) == "the key hf:n holds data of another kind");
    BOOST_TEST(reason(1).starts_with("WRONGTYPE"));
    ask(7);
    BOOST_TEST(events() == "7 refused: key_conflict");
}

// A node that cannot be opened now is reachable, and does not count.
BOOST_AUTO_TEST_CASE(errors_when_a_node_is_opened)
{
    answer(0, "open", "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
    answer(1, "open", "-LOADING Redis is loading the dataset in memory\r\n");
    opened(2);
    BOOST_TEST(reason(0).starts_with("OOM"));
    ask(7);
    BOOST_TEST(events() == "7 refused: unreachable");
    pass(500ms);
    ask(8);
    for (std::size_t i = 0; i < 2; ++i) {
        BOOST_TEST(requests(i) == "record, open");
        answer(i, "_\r\n");
        answer(i, "open", "-NOPERM this user has no permissions to access a key\r\n");
    }
    ask(9);
    BOOST_TEST(events() == "8 refused: unreachable, 9 refused: permission_denied");
}

// A reply that is no answer closes the connection.
BOOST_AUTO_TEST_CASE(answers_of_the_wrong_type)
{
    for (const char* const bytes : {"+OK\r\n", ":0\r\n", "*1\r\n:0\r\n", "*2\r\n+0\r\n:1\r\n",
             "*2\r\n:0\r\n+1\r\n", "*1\r\n*2\r\n:0\r\n:1\r\n", "*3\r\n:0\r\n:1\r\n:2\r\n"}) {
        opening_fence f;
        f.answer(0, "open", bytes);
        BOOST_TEST(
            f.core->nodes().stats()[0].last_error == make_error_code(errc::protocol_error), bytes);
    }
}

// Numbers that no correct node sends cause no nonsensical text, and nothing worse.
BOOST_AUTO_TEST_CASE(numbers_without_bounds)
{
    open({std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
    BOOST_TEST(reason(0).starts_with("in quarantine for another 315360000 s"));
    BOOST_TEST(reason(1).find("another kind") != std::string::npos);
    ask(7);
    BOOST_TEST(events() == "7 refused: fencing_unavailable, passes");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
