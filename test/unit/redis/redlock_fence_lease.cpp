// Leases in fenced mode, over scripted nodes: which nodes hold them, and the tokens of their
// holders.
#include "unit/redis/fence_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_SUITE(redlock_fence_lease, fenced_lease)

// Stragglers that accept the ballot of the lease hold it like the others.
BOOST_AUTO_TEST_CASE(late_stragglers_join)
{
    grant(3);
    grant(4);
    pass(100ms);
    renew_at("00111");
    BOOST_TEST(events() == "7 valid for 988");
}

// A renewal confirms the key of a node that has not accepted the ballot. The node may have
// forgotten other leases and ballots, so the lease does not live on it.
BOOST_AUTO_TEST_CASE(a_node_without_the_ballot_does_not_hold_the_lease)
{
    key(3);
    refuse(3);
    grant(4);
    BOOST_TEST(requests(3) == ""); // a straggler is not asked for its largest ballot
    pass(100ms);
    renew_at("00111");
    BOOST_TEST(events() == "7 lost");
}

// The same for one whose answers have been lost.
BOOST_AUTO_TEST_CASE(a_renewal_proves_no_token)
{
    grant(4);
    pass(200ms);
    disconnect(3);
    pass(100ms);
    opened(3);
    answer(3, "record", "_\r\n");
    renew_at("00111");
    BOOST_TEST(events() == "7 lost");
}

// A node that holds our key and does not count is sent a new ballot with each renewal. Then it
// holds the lease, too. The token stays the same.
BOOST_AUTO_TEST_CASE(spare_nodes_get_a_new_ballot_with_the_renewal)
{
    key(3);
    refuse(3);
    taken(4);
    accept(4);
    pass(100ms);
    renew(id);
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST(requests(i) == "renew");
    BOOST_TEST(requests(3) == "renew, ballot 800");
    BOOST_TEST(requests(4) == "set x"); // without a ballot: it has to grant the key first
    for (std::size_t i = 0; i < 4; ++i)
        renewed(i, 1);
    refuse(3);
    largest(3, 900);
    key(4);
    BOOST_TEST(events() == "7 valid for 988");

    pass(100ms);
    renew(id);
    BOOST_TEST(requests(3) == "renew, ballot 1600");
    BOOST_TEST(requests(4) == "renew, ballot 1600");
    renewed(3, 1);
    accept(3);
    renewed(4, 1);
    accept(4);
    for (std::size_t i = 0; i < 3; ++i)
        renewed(i, i == 2 ? 1 : 0);
    BOOST_TEST(events() == "7 valid for 988"); // by 2, 3 and 4
    BOOST_TEST(core->transfer(id, 8).value() == first_token + 1);

    pass(100ms);
    renew(id);
    BOOST_TEST(requests(3) == "renew");
}

// A spare node that accepts its ballot holds the lease at once, until the end that its key has.
BOOST_AUTO_TEST_CASE(a_spare_node_makes_the_lease_longer)
{
    fence_fixture f(3);
    f.connect();
    const auto lease = f.ask(7);
    f.grant(0);
    f.grant(1);
    f.key(2);
    f.refuse(2);
    BOOST_TEST(f.events() == granted(7, 0));
    f.pass(100ms);
    f.renew(lease);
    f.renewed(2, 1);
    f.renewed(1, 1);
    BOOST_TEST(f.events() == ""); // 0 counts since the beginning only
    f.accept(2);
    BOOST_TEST(f.events() == "7 valid for 988");
}

// The same node gets no second ballot while one is under way.
BOOST_AUTO_TEST_CASE(a_spare_node_whose_ballot_is_under_way)
{
    key(3);
    pass(100ms);
    renew(id);
    BOOST_TEST(requests(3) == "ballot 0, renew");
    accept(3);
    renewed(3, 1);
    pass(100ms);
    renew(id);
    BOOST_TEST(requests(3) == "renew");
}

// A node whose connection broke before it answered the ballot is connected again.
BOOST_AUTO_TEST_CASE(a_node_that_comes_back_without_an_answer_to_its_ballot)
{
    key(3);
    pass(200ms);
    disconnect(3);
    pass(100ms);
    BOOST_TEST(requests(3) == "open, record");
    opened(3);
    answer(3, "record", "_\r\n");
    renew(id);
    BOOST_TEST(requests(3) == "renew, ballot 2400");
    renewed(3, 1);
    accept(3);
    for (std::size_t i = 0; i < 3; ++i)
        renewed(i, i == 0 ? 0 : 1);
    BOOST_TEST(events() == "7 valid for 988");
}

// A key that a node has lost is set again without a ballot: it excludes other clients.
BOOST_AUTO_TEST_CASE(a_repair_needs_no_ballot)
{
    grant(3);
    grant(4);
    renew_at("01111");
    renew(id);
    BOOST_TEST(requests(0) == "set x");
    key(0);
    for (std::size_t i = 1; i < 5; ++i)
        renewed(i, 1);
    events();
    pass(100ms);
    renew(id);
    BOOST_TEST(requests(0) == "renew");
    renewed(0, 1);
    renewed(1, 0);
    renewed(2, 0);
    BOOST_TEST(events() == "7 lost");
}

// Each holder in the process has its own token, until those of the ballot are used up.
BOOST_AUTO_TEST_CASE(each_holder_in_the_process_has_its_own_token)
{
    for (std::uint64_t i = 1; i < 128; ++i) {
        BOOST_TEST(core->can_transfer(id));
        BOOST_TEST(core->transfer(id, 100 + i).value() == first_token + i);
    }
    BOOST_TEST(!core->can_transfer(id));
    core->release(id, now);
    run();
    for (std::size_t i = 0; i < 3; ++i)
        deleted(i);
    BOOST_TEST(events() == "227 released");
    const auto next = ask(8);
    for (std::size_t i = 0; i < 3; ++i)
        grant(i);
    BOOST_TEST(events() == granted(8, 1)); // the token after the last one
    BOOST_TEST(core->transfer(next, 9).value() == first_token + 129);
}

// A release deletes the keys of all nodes, whether or not they count.
BOOST_AUTO_TEST_CASE(a_release_deletes_keys_of_nodes_that_do_not_count)
{
    key(3);
    refuse(3);
    key(4);
    core->release(id, now);
    run();
    for (std::size_t i = 0; i < 4; ++i)
        BOOST_TEST((requests(i) == "delete" || requests(i) == "pass"));
    accept(4); // its ballot is answered when it matters no more
    for (std::size_t i = 0; i < 5; ++i)
        deleted(i);
    BOOST_TEST(requests() == "");
    BOOST_TEST(events() == "7 released");
    BOOST_TEST(core->cleanup().is_done());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
