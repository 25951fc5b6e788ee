// Leases that other clients give to a claim that waits in the queue.
#include "unit/redis/baton_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_SUITE(redlock_batons, baton_fixture)

// The message grants the lease: nothing is sent.
BOOST_AUTO_TEST_CASE(a_message_grants_the_lease)
{
    const auto id = wait();
    BOOST_TEST(others_give() == ":2\r\n");
    run();
    BOOST_TEST(events() == "8 granted for 986");
    BOOST_TEST(requests() == "");
    BOOST_TEST(owners() == "ooo");
    BOOST_TEST(value(a) == text_of('o') + text_of('y') + " 0");
    pass(500ms);
    BOOST_TEST(requests() == "");
    renew(id);
    BOOST_TEST(events() == "8 valid for 988");
    BOOST_TEST(requests() == "a: RENEW A; b: RENEW A; c: RENEW A");
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(owners() == "---");
    BOOST_TEST(core->cleanup().is_done());
}

// The decision took no time, however old the lease is.
BOOST_AUTO_TEST_CASE(when_the_turn_has_come)
{
    wait();
    others_hold(900ms);
    pass(20ms);
    others_give();
    run();
    const auto e = core->next_event();
    BOOST_REQUIRE(bool(e));
    BOOST_TEST(in_words(*e).starts_with("8 granted"));
    BOOST_TEST(e->asked == now);
}

// The time counts from before the first request for the place, not from the message.
BOOST_AUTO_TEST_CASE(the_validity_of_a_lease_that_was_given_later)
{
    wait();
    pass(20ms);
    others_give(" 100"); // the key still lasts for 980 ms
    run();
    BOOST_TEST(events() == "8 granted for 846");
}

// Each client has a ttl of its own. The keys do not outlast it.
BOOST_AUTO_TEST_CASE(the_client_before_has_a_longer_ttl)
{
    wait(60s);
    others_give();
    run();
    BOOST_TEST(events() == "8 granted for 988");
    BOOST_TEST(requests() == "a: RENEW A; b: RENEW A; c: RENEW A");
    for (const auto i : {a, b, c})
        BOOST_TEST(reply(i, {"PTTL", lock}) == ":1000\r\n");
}
BOOST_AUTO_TEST_CASE(the_client_before_has_a_shorter_ttl)
{
    terms.ttl = 10s;
    wait(1s);
    others_give();
    run();
    BOOST_TEST(events() == "8 granted for 9988"); // all nodes have been asked
    BOOST_TEST(requests() == "a: RENEW A; b: RENEW A; c: RENEW A");
    pass(5s);
    BOOST_TEST(owners() == "ooo");
}

// The next call for the place finds the token in the key.
BOOST_AUTO_TEST_CASE(a_message_that_is_lost)
{
    terms.ttl = 10s;
    wait(10s);
    others_give_in_vain();
    run();
    BOOST_TEST(events() == "");
    pass(1s);
    BOOST_TEST(events() == "8 granted for 8080");
    BOOST_TEST(requests(a).find("ENQUEUE A") != std::string::npos);
    BOOST_TEST(owners() == "ooo");
    BOOST_TEST(!has_queue(a));
}

// The node has read the call before the lease was given: its answer comes first, and then the
// message.
BOOST_AUTO_TEST_CASE(a_message_behind_an_answer)
{
    terms.ttl = 10s;
    others_hold(10s);
    nodes[a].silent = true;
    ask_in_turn(8, 'y');
    pass(10ms);
    others_give();
    nodes[a].silent = false;
    run();
    BOOST_TEST(events() == "8 granted for 9966");
    BOOST_TEST(owners() == "ooo");
}

// The node reads the call when the lease was given already: the answer says so once more.
BOOST_AUTO_TEST_CASE(a_message_before_an_answer_that_says_the_same)
{
    terms.ttl = 10s;
    const auto id = wait(10s);
    pass_until_it_asks_again();
    const core::time_point asked = now;
    others_give();
    nodes[a].deaf = false;
    run();
    const auto lasts = std::stoi(reply(a, {"PTTL", lock}).substr(1)) * 1ms;
    const std::string left = std::to_string((start + lasts - 14ms - asked) / 1ms);
    BOOST_TEST(events() == "8 granted for " + left);
    pass(100ms);
    BOOST_TEST(events() == "");
    BOOST_TEST(owners() == "ooo");
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(owners() == "---");
    for (const auto i : {a, b, c})
        BOOST_TEST(!has_queue(i));
    BOOST_TEST(core->cleanup().is_done());
}

// Only that answer comes.
BOOST_AUTO_TEST_CASE(an_answer_whose_message_is_lost)
{
    terms.ttl = 10s;
    wait(10s);
    pass_until_it_asks_again();
    others_give_in_vain();
    nodes[a].deaf = false;
    run();
    BOOST_TEST(events().starts_with("8 granted for 8"));
    say_again(text_of('o') + "9000 0");
    BOOST_TEST(events() == "");
    BOOST_TEST(owners() == "ooo");
}

BOOST_AUTO_TEST_CASE(a_message_counts_once)
{
    const auto id = wait();
    others_give();
    run();
    BOOST_TEST(events() == "8 granted for 986");
    say_again();
    pass(1ms);
    say_again();
    BOOST_TEST(events() == "");
    BOOST_TEST(requests() == "");
    BOOST_TEST(owners() == "ooo");
    release(id);
    requests();
    others_hold(); // it does not reuse the token, but a message may be that late
    say_again();
    BOOST_TEST(requests() == "");
    BOOST_TEST(owners() == "ooo");
}

// The message may come from an earlier queue node, where the claim is still in the queue. It leaves
// the other queue at the end, and gives the lease to nobody there.
BOOST_AUTO_TEST_CASE(a_message_of_an_earlier_queue_node)
{
    terms.ttl = 5s;
    others_hold(5s);
    nodes[a].silent = true;
    const auto id = ask_in_turn(8, 'y');
    pass(110ms);
    BOOST_TEST(has_queue(b));
    others_give();
    nodes[a].silent = false;
    run();
    BOOST_TEST(events() == "8 granted for 4766"); // the key still lasts for 4890 ms
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(owners() == "---");
    for (const auto i : {a, b, c})
        BOOST_TEST(!has_queue(i));
}

// Messages that are no batons for the claim.
BOOST_AUTO_TEST_CASE(messages_that_give_nothing)
{
    const auto id = wait();
    const std::string channel = place.substr(48), entry = place.substr(0, 48);
    const std::string lease = text_of('o') + "1000 0";
    const std::string other = text_of('x') + place.substr(32, 16);
    for (const std::string& message :
        {entry + lease + " 12800", entry + lease + " x", entry + text_of('o') + "1000",
            entry + text_of('o'), entry + "1000 0", lease, other + lease,
            text_of('y') + reference + lease, text_of('y') + std::string(16, 'x') + lease,
            entry + text_of('y') + "1000 0", text_of('y') + lease}) {
        reply(a, {"PUBLISH", channel, message});
        run();
        BOOST_TEST(events() == "", message);
        BOOST_TEST(requests() == "", message);
    }
    reply(b, {"PUBLISH", channel, entry + lease}); // the claim is not in this queue
    run();
    BOOST_TEST(events() == "");
    BOOST_TEST(requests() == "");
    BOOST_TEST(core->pending_error(id) == errc::contended);
    others_give();
    run();
    BOOST_TEST(events() == "8 granted for 986");
}

// A fencing token is of no use in plain mode: the lease may be one of other rules.
BOOST_AUTO_TEST_CASE(a_baton_with_a_fencing_token)
{
    wait();
    others_give(" 0 12800");
    run();
    BOOST_TEST(events() == "");
    BOOST_TEST(requests() == "");
    BOOST_TEST(owners() == "ooo");
}

// The key names our place, and what follows cannot be read. The claim goes on waiting.
BOOST_AUTO_TEST_CASE(an_answer_that_cannot_be_read)
{
    wait(1500ms);
    for (const auto i : {b, c})
        reply(i, {"PEXPIRE", lock, "1500"});
    reply(a, {"SET", lock, text_of('o') + text_of('y') + " x", "PX", "1500"});
    pass(1400ms);
    BOOST_TEST(events() == "");
    BOOST_TEST(owners() == "ooo");
    pass(1100ms);
    BOOST_TEST(events().starts_with("8 granted"));
    BOOST_TEST(owners() == "yyy");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
