// Leases that are given to the next waiter in fenced mode: the fencing tokens of the ballot go
// along.
#include "redis/node/fence_scripts.hpp"
#include "redis/quorum/rendezvous.hpp"
#include "unit/redis/baton_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

// Ballots and tokens are told relative to the first ones that the clocks permit.
struct fenced_batons : baton_fixture {
    fenced_batons()
        : baton_fixture(
              redis::fence_settings{.quarantine = 60s, .ahead = 1s, .first_deployment = true})
    {
        first_token = static_cast<std::uint64_t>(first_ballot()) * redis::tokens_in_ballot;
    }

    static std::int64_t first_ballot()
    {
        return start.time_since_epoch() / 1ms * redis::ballots_in_ms;
    }
    std::string fence(std::uint64_t ballot, std::uint64_t place_in_it) const
    {
        return std::to_string(first_token + ballot * redis::tokens_in_ballot + place_in_it);
    }
    // A node has accepted a larger ballot of another client.
    void accept_of_others(std::size_t node, std::int64_t ballot)
    {
        const std::string its_register = std::to_string(redis::hash_of(lock) % redis::registers);
        BOOST_TEST(
            reply(node, {"ZADD", "hf:f", "XX", "GT", "CH", std::to_string(first_ballot() + ballot),
                            its_register}) == ":1\r\n");
    }
    // Releases while another client waits. True if the lease was given.
    bool gives(core::claim_id id)
    {
        wait_elsewhere('n', "theirs+");
        requests();
        release(id);
        BOOST_TEST(events() == "8 released");
        const bool given = requests(a).find("GIVE A") != std::string::npos;
        BOOST_TEST((given ? value(b) + value(c) != "" : owners() == "n--"));
        return given;
    }
};

BOOST_FIXTURE_TEST_SUITE(redlock_fence_batons, fenced_batons)

// The message has the token of the new holder. The next holders have the ones that follow, in this
// process or another one.
BOOST_AUTO_TEST_CASE(tokens_go_on)
{
    const auto id = wait();
    others_give(" 0 " + fence(100, 5));
    run();
    BOOST_TEST(events() == "8 granted 12805 for 986");
    BOOST_TEST(requests() == "");
    BOOST_TEST(core->transfer(id, 9).value() - first_token == 12'806u);
    wait_elsewhere('n', "theirs+");
    release(id);
    BOOST_TEST(events() == "9 released");
    BOOST_TEST(requests() == "a: GIVE A");
    BOOST_TEST(value(a) == text_of('o') + text_of('n') + " 0 " + fence(100, 7));
    BOOST_TEST(value(b) == text_of('o'));
    BOOST_TEST(
        told() == text_of('n') + reference + text_of('o') + "1000 0 " + fence(100, 7) + "\r\n");
    BOOST_TEST(core->cleanup().is_done());
}

// The same for a lease with a ballot of our own.
BOOST_AUTO_TEST_CASE(a_ballot_of_our_own_goes_along)
{
    const auto id = get_turn();
    const auto token = core->transfer(id, 8).value();
    wait_elsewhere('n', "theirs+");
    release(id);
    BOOST_TEST(value(a) == text_of('y') + text_of('n') + " 0 " + std::to_string(token + 1));
    BOOST_TEST(owners() == "yyy");
}

// Without a token, nothing is known of the ballot. A baton of plain mode has no use here.
BOOST_AUTO_TEST_CASE(a_baton_without_a_token)
{
    wait();
    say_again(text_of('o') + "1000 0");
    say_again(text_of('o') + "1000 0 127");
    BOOST_TEST(events() == "");
    BOOST_TEST(requests() == "");
    others_give(" 0 " + fence(100, 0));
    run();
    BOOST_TEST(events() == "8 granted 12800 for 986");
}

BOOST_AUTO_TEST_CASE(a_message_that_is_lost)
{
    terms.ttl = 10s;
    wait(10s);
    others_give_in_vain(" 0 " + fence(100, 5));
    pass(1s);
    BOOST_TEST(events() == "8 granted 12805 for 8080");
    BOOST_TEST(owners() == "ooo");
}

// The ballot of another client may be ahead of our clock. Our next one is larger.
BOOST_AUTO_TEST_CASE(the_next_attempt_has_a_larger_ballot)
{
    const auto id = get_baton(" 0 " + fence(400, 5));
    release(id);
    BOOST_TEST(events() == "8 released");
    ask(9, 'z');
    run();
    BOOST_TEST(events() == "9 granted 51328 for 988");
}

// All nodes confirm the keys. Their ballots have been accepted already.
BOOST_AUTO_TEST_CASE(a_lease_whose_time_is_nearly_over)
{
    const auto id = wait(500ms);
    others_give(" 0 " + fence(100, 5));
    run();
    BOOST_TEST(requests() == "a: RENEW A; b: RENEW A; c: RENEW A");
    BOOST_TEST(events() == "8 granted 12805 for 988");
    BOOST_TEST(owners() == "ooo");
    BOOST_TEST(gives(id));
    BOOST_TEST(value(a) == text_of('o') + text_of('n') + " 0 " + fence(100, 6));
}

// A key that had ended, and is set again, does not count: its node may have accepted the ballot of
// a client that had the key meanwhile.
BOOST_AUTO_TEST_CASE(a_key_that_is_set_again)
{
    const auto id = wait(500ms);
    reply(b, {"DEL", lock});
    nodes[c].deaf = true;
    others_give(" 0 " + fence(100, 5));
    run();
    BOOST_TEST(requests(b) == "RENEW A, SET A");
    BOOST_TEST(owners() == "ooo");
    BOOST_TEST(events() == "");
    nodes[c].deaf = false;
    run();
    BOOST_TEST(events() == "8 granted 12805 for 988");
    BOOST_TEST(!gives(id)); // for the next holder it would count
}

BOOST_AUTO_TEST_CASE(keys_that_have_ended)
{
    wait(500ms);
    for (const auto i : {b, c})
        reply(i, {"SET", lock, "another", "PX", "5000"});
    others_give(" 0 " + fence(100, 5));
    pass(200ms);
    BOOST_TEST(events() == "8 refused: contended");
    BOOST_TEST(owners() == "-aa");
    BOOST_TEST(core->cleanup().is_done());
}

// A node holds our key, and has not accepted the ballot of the lease.
BOOST_AUTO_TEST_CASE(a_node_that_has_not_accepted_the_ballot)
{
    accept_of_others(c, 4000);
    const auto id = get_turn();
    BOOST_TEST(owners() == "yyy");
    BOOST_TEST(!gives(id));
}

// With a larger ballot for that node, all count. The tokens are still those of the lease.
BOOST_AUTO_TEST_CASE(a_node_that_has_accepted_a_later_ballot)
{
    accept_of_others(c, 1000);
    const auto id = get_turn();
    const auto token = core->transfer(id, 8).value();
    pass(200ms);
    renew(id);
    events();
    BOOST_TEST(gives(id));
    BOOST_TEST(value(a) == text_of('y') + text_of('n') + " 0 " + std::to_string(token + 1));
}

// The last token of a ballot can be given.
BOOST_AUTO_TEST_CASE(the_last_token)
{
    BOOST_TEST(gives(get_baton(" 0 " + fence(100, 126))));
    BOOST_TEST(value(a) == text_of('o') + text_of('n') + " 0 " + fence(100, 127));
}
BOOST_AUTO_TEST_CASE(no_token_is_left)
{
    const auto id = get_baton(" 0 " + fence(100, 127));
    BOOST_TEST(!core->can_transfer(id));
    BOOST_TEST(!gives(id));
}
BOOST_AUTO_TEST_CASE(the_tokens_are_used_up_in_this_process)
{
    const auto id = get_turn();
    for (int i = 0; i < 127; ++i)
        core->transfer(id, 8);
    BOOST_TEST(!gives(id));
}

// A lease that nobody uses is deleted.
BOOST_AUTO_TEST_CASE(a_baton_for_an_attempt_that_was_given_up)
{
    const auto id = wait();
    others_give(" 0 " + fence(100, 5));
    core->abandon(id, now);
    run();
    BOOST_TEST(events() == "");
    BOOST_TEST(owners() == "---");
    BOOST_TEST(core->cleanup().is_done());
}

// The value of the key at the queue node has the token, too.
BOOST_AUTO_TEST_CASE(a_gift_that_does_not_arrive)
{
    const auto id = get_baton(" 7 " + fence(100, 5));
    nodes[a].deaf = true;
    release(id);
    disconnect(a);
    nodes[a].deaf = false;
    pass(200ms);
    BOOST_TEST(events() == "8 unconfirmed");
    BOOST_TEST(owners() == "---");
    BOOST_TEST(core->cleanup().is_done());
}

// A client of an earlier version needs a ballot of its own.
BOOST_AUTO_TEST_CASE(the_next_waiter_knows_no_batons)
{
    const auto id = get_baton(" 0 " + fence(100, 5));
    wait_elsewhere('n', "theirs");
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(owners() == "n--");
    BOOST_TEST(value(a) == text_of('n'));
    BOOST_TEST(told() == text_of('n') + reference + "\r\n");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
