// Nodes of a lease in fenced mode that join it again, or late, over scripted nodes.
#include "unit/redis/fence_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

// Nodes 0 to 3 keep the lease. 4 has it as well, and is to lose it.
struct lease_with_a_spare : fenced_lease {
    lease_with_a_spare()
    {
        grant(3);
        grant(4);
        events();
    }

    // Its nodes answer renewals for a second, which is longer than a key lasts.
    void keep_for_a_second(bool node_4_too)
    {
        for (int i = 0; i < 4; ++i) {
            pass(250ms);
            renew_at(node_4_too ? "11111" : "1111");
        }
    }
    // A node is connected again, which has registers; those that it had, or new ones.
    void come_back(std::int64_t quarantine)
    {
        disconnect(4);
        pass(100ms);
        opened(4, quarantine);
        answer(4, "record", "_\r\n");
    }
    // Node 4 is away for longer than its key lasts.
    void be_away_for_a_second()
    {
        nodes[4].accepts = false;
        disconnect(4);
        keep_for_a_second(false);
        nodes[4].accepts = true;
        pass(500ms);
        opened(4);
        answer(4, "record", "_\r\n");
    }
    // The next renewal, and the requests to node 4.
    std::string renewal()
    {
        renew(id);
        for (std::size_t i = 0; i < 4; ++i)
            renewed(i, 1);
        return requests(4);
    }
    // Node 4 forgets the key, and is given it again.
    void forget_the_key()
    {
        pass(100ms);
        renew_at("11110");
        BOOST_TEST(renewal() == "set x");
        key(4);
    }
    // The lease lives on nodes 2 to 4.
    void lose_0_and_1()
    {
        events();
        pass(100ms);
        renew_at("00111");
        BOOST_TEST(events() == "7 valid for 988");
    }
};

BOOST_AUTO_TEST_SUITE(redlock_fence_spares)

// Where a key ran out while its node was away, the node counts again when it has granted the key
// and has then accepted a larger ballot.
BOOST_FIXTURE_TEST_CASE(a_node_whose_key_ran_out_needs_a_larger_ballot, lease_with_a_spare)
{
    be_away_for_a_second();
    BOOST_TEST(renewal() == "renew");
    renewed(4, 0);
    BOOST_TEST(renewal() == "set x");
    key(4);
    const std::string with_ballot = renewal();
    BOOST_TEST(with_ballot.starts_with("renew, ballot 1"));
    renewed(4, 1);
    accept(4);
    lose_0_and_1();
}

// A node that forgot the key counts as well, but not before its key would have ended.
BOOST_FIXTURE_TEST_CASE(a_node_that_forgot_the_key_needs_a_larger_ballot_later, lease_with_a_spare)
{
    forget_the_key();
    pass(880ms);
    BOOST_TEST(renewal() == "renew");
    renewed(4, 1);
    pass(10ms);
    BOOST_TEST(renewal() == "renew");
    renewed(4, 1);
    BOOST_TEST(renewal().starts_with("renew, ballot"));
    renewed(4, 1);
    accept(4);
    lose_0_and_1();
}

// Not while the node is in quarantine: it may have forgotten other ballots.
BOOST_FIXTURE_TEST_CASE(a_node_in_quarantine_is_sent_no_ballot_for_a_lease, lease_with_a_spare)
{
    come_back(3000);
    BOOST_TEST(renewal() == "renew");
    renewed(4, 0);
    BOOST_TEST(renewal() == "set x");
    key(4);
    keep_for_a_second(true);
    keep_for_a_second(true);
    pass(950ms);
    BOOST_TEST(renewal() == "renew");
    renewed(4, 1);
    pass(60ms);
    BOOST_TEST(renewal().starts_with("renew, ballot"));
    renewed(4, 1);
    refuse(4); // it is asked again, but not at once
    largest(4, 8000);
    BOOST_TEST(renewal() == "renew");
    renewed(4, 1);
    pass(100ms);
    BOOST_TEST(renewal().starts_with("renew, ballot"));
    renewed(4, 1);
    accept(4);
    lose_0_and_1();
}

// The connection of a node is broken when its ballot is due. It is sent later.
BOOST_FIXTURE_TEST_CASE(a_ballot_for_a_lease_waits_for_its_node, fenced_lease)
{
    key(3);
    refuse(3);
    taken(4);
    pass(100ms);
    renew_at("111");
    BOOST_TEST(requests(3) == "renew, ballot 800");
    disconnect(3);
    pass(100ms);
    opened(3);
    answer(3, "record", "_\r\n");
    renew_at("111");
    BOOST_TEST(requests(3) == "renew, ballot 1600");
}

// A request of an old connection is late: it sets the key again that ran out meanwhile. The node
// may have forgotten another lease in between.
BOOST_FIXTURE_TEST_CASE(a_key_that_came_back_needs_a_larger_ballot, lease_with_a_spare)
{
    be_away_for_a_second();
    BOOST_TEST(renewal() == "renew");
    renewed(4, 1);
    BOOST_TEST(renewal().starts_with("renew, ballot"));
    renewed(4, 1);
    accept(4);
    lose_0_and_1();
}

// A node whose answers were lost has the key.
BOOST_FIXTURE_TEST_CASE(a_key_that_only_a_renewal_shows_needs_a_larger_ballot, fenced_lease)
{
    grant(4);
    pass(200ms);
    disconnect(3);
    pass(100ms);
    opened(3);
    answer(3, "record", "_\r\n");
    renew_at("11111");
    pass(100ms);
    renew(id);
    BOOST_TEST(requests(3).starts_with("renew, ballot"));
    for (std::size_t i = 0; i < 5; ++i)
        renewed(i, 1);
    accept(3);
    events();
    pass(100ms);
    renew_at("00111");
    BOOST_TEST(events() == "7 valid for 988");
}

// A register is ahead of the clocks, which ends in a while. The answer may come before the lease is
// granted, or after.
void join_when_the_clocks_are_ahead(bool told_before)
{
    fence_fixture f(3);
    f.connect();
    const auto lease = f.ask(7);
    f.key(2);
    f.refuse(2);
    if (told_before)
        f.largest(2, 8000);
    f.grant(0);
    f.grant(1);
    BOOST_TEST(f.events() == fence_fixture::granted(7, 0));
    if (!told_before)
        f.largest(2, 8000);
    f.pass(100ms);
    f.renew(lease);
    BOOST_TEST(f.requests(2).starts_with("renew, ballot"));
    f.renewed(2, 1);
    f.accept(2);
    f.renewed(1, 1);
    BOOST_TEST(f.events() == "7 valid for 988");
}

BOOST_AUTO_TEST_CASE(a_node_that_was_excluded_from_an_attempt_may_join_its_lease)
{
    join_when_the_clocks_are_ahead(true);
}

BOOST_AUTO_TEST_CASE(a_node_that_could_not_join_an_attempt_may_join_its_lease)
{
    join_when_the_clocks_are_ahead(false);
}

// A user extends the lease in a loop.
BOOST_FIXTURE_TEST_CASE(extensions_in_a_loop_make_no_flood_of_ballots, fenced_lease)
{
    key(3);
    refuse(3);
    grant(4);
    std::size_t ballots = 0;
    for (int i = 0; i < 50; ++i) {
        renew_at("11111");
        while (requests(3) != "") {
            refuse(3);
            largest(3, 8000);
            ++ballots;
        }
        pass(10ms);
    }
    BOOST_TEST(ballots == 5u);
}

// A node loses its data, and keeps its connection. The lease notices when it gives the key back to
// the node, and lets it make new registers. Found by review.
BOOST_FIXTURE_TEST_CASE(
    a_node_that_lost_its_registers_makes_new_ones_for_a_lease, lease_with_a_spare)
{
    forget_the_key();
    pass(890ms);
    BOOST_TEST(renewal() == "renew");
    renewed(4, 1);
    BOOST_TEST(renewal().starts_with("renew, ballot"));
    renewed(4, 1);
    refuse(4);
    BOOST_TEST(requests(4) == "largest");
    answer(4, "largest", "_\r\n");
    BOOST_TEST(requests(4) == "open");
}

BOOST_FIXTURE_TEST_CASE(a_lease_asks_one_node_at_a_time_for_its_register, fenced_lease)
{
    for (const std::size_t spare : {3u, 4u}) {
        key(spare);
        refuse(spare);
    }
    pass(100ms);
    renew_at("11111");
    refuse(3);
    refuse(4);
    BOOST_TEST(requests(3) == "largest");
    BOOST_TEST(requests(4) == "");
    largest(3, 900);
    pass(100ms);
    renew_at("11111");
    refuse(4);
    BOOST_TEST(requests(4) == "largest");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
