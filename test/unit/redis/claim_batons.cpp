// A claim whose lease comes from another client, or goes to one.
#include "redis/claim/claim.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;
namespace core = holdfast::core;
using key = claim_node::key;

namespace {

// A claim that has waited at node 1 since 0 ms, and has asked for its place several times.
struct waiting_claim {
    explicit waiting_claim(bool fenced = false)
    {
        c.begin(7, "stock:A", token_of('p'), {.ttl = 1000ms, .drift = 10ms, .guard = 50ms}, 3);
        if (fenced)
            c.round.begin_fence(3);
        c.queue.enter(1, at(900ms));
        c.queue.ticket->entered = at(0ms);
        c.queue.asked();
        c.queue.waits();
        c.keys[1].queued = true;
        c.stage = claim_stage::queued;
    }

    static core::owner_token token_of(char each)
    {
        core::owner_token t;
        t.text.fill(each);
        return t;
    }

    void take(std::chrono::milliseconds left, std::chrono::milliseconds lag,
        std::optional<std::uint64_t> fence = {}, core::time_point now = at(300ms))
    {
        c.take_over(1, {.token = token_of('k'), .left = left, .lag = lag, .fence = fence}, now);
    }

    claim c;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redlock_claim_batons, waiting_claim)

BOOST_AUTO_TEST_CASE(a_claim_without_a_baton)
{
    BOOST_TEST((c.came_by_baton() == nullptr));
    BOOST_TEST(c.place().view() == c.token.view());
    BOOST_TEST(c.value_at(1) == c.token.view());
    BOOST_TEST((c.gives() == queue_ticket::passing::no));
    claim alone;
    alone.begin(7, "stock:A", token_of('p'), c.params, 3); // it has never been in a queue
    BOOST_TEST((alone.came_by_baton() == nullptr));
    BOOST_TEST((alone.gives() == queue_ticket::passing::no));
}

// The keys have the token of their first holder. Only the queue node's key names the claim, whose
// entries have its own token.
BOOST_AUTO_TEST_CASE(the_keys_of_a_lease_that_was_given)
{
    take(900ms, 12ms);
    const std::string keys(32, 'k'), place(32, 'p');
    BOOST_TEST(c.token.view() == keys);
    BOOST_TEST(c.place().view() == place);
    BOOST_TEST(c.value_at(0) == keys);
    BOOST_TEST(c.value_at(1) == keys + place + " 12");
    BOOST_TEST(c.value_at(2) == keys);
    BOOST_REQUIRE(c.came_by_baton() != nullptr);
    BOOST_TEST(c.came_by_baton()->node == 1u);
    BOOST_TEST((c.came_by_baton()->lag == 12ms));
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST((c.keys[i].state == key::ours));
        BOOST_TEST(c.keys[i].open == 0u);
    }
    BOOST_TEST((c.round.votes().judge() == verdict::acquired));
}

// The node has read the ttl after the first request for the place, whenever the message came.
BOOST_AUTO_TEST_CASE(the_time_counts_from_the_first_request)
{
    take(900ms, 0ms);
    BOOST_TEST(c.keys.valid_until() == at(900ms - 2ms - 10ms));
    waiting_claim later;
    later.take(900ms, 0ms, {}, at(800ms));
    BOOST_TEST(later.c.keys.valid_until() == at(900ms - 2ms - 10ms));
    waiting_claim second;
    second.c.queue.enter(1, at(1900ms)); // it has asked for a second place
    second.c.queue.asked();
    second.take(900ms, 0ms, {}, at(1000ms));
    BOOST_TEST(second.c.keys.valid_until() == at(900ms - 2ms - 10ms));
}

// The majority of the keys may end earlier than the queue node's key.
BOOST_AUTO_TEST_CASE(the_lag_shortens_the_time)
{
    take(900ms, 100ms);
    BOOST_TEST(c.keys.valid_until() == at(900ms - 100ms - 2ms - 10ms));
    waiting_claim nothing;
    nothing.take(900ms, 5000ms);
    BOOST_TEST(nothing.c.keys.valid_until() == at(900ms - 5000ms - 2ms - 10ms));
}

// A lease never lasts longer than a ttl of our own.
BOOST_AUTO_TEST_CASE(the_holder_before_has_another_ttl)
{
    take(60s, 0ms);
    BOOST_TEST(c.keys.valid_until() == at(1000ms - 10ms));
    waiting_claim lagging;
    lagging.take(60s, 59'100ms);
    BOOST_TEST(lagging.c.keys.valid_until() == at(900ms - 2ms - 10ms));
    waiting_claim exact;
    exact.take(1002ms, 0ms);
    BOOST_TEST(exact.c.keys.valid_until() == at(1000ms - 10ms));
    waiting_claim less;
    less.take(1001ms, 0ms);
    BOOST_TEST(less.c.keys.valid_until() == at(999ms - 10ms));
}

// The keys may last longer than our own ttl, and so does what has to be deleted.
BOOST_AUTO_TEST_CASE(when_the_keys_are_gone)
{
    take(60s, 0ms, {}, at(300ms));
    BOOST_TEST(c.keys.gone_at() == at(60'300ms));
    waiting_claim shorter;
    shorter.take(100ms, 0ms, {}, at(300ms));
    BOOST_TEST(shorter.c.keys.gone_at() == at(1300ms));
}

// Its place at the queue node is used up, unless it has asked for another one meanwhile.
BOOST_AUTO_TEST_CASE(the_place_is_used_up)
{
    take(900ms, 0ms);
    BOOST_TEST(!c.keys[1].queued);
    waiting_claim everywhere;
    everywhere.c.queue.everywhere = true;
    everywhere.c.keys[0].queued = true;
    everywhere.take(900ms, 0ms);
    BOOST_TEST(bool(everywhere.c.keys[1].queued));
    BOOST_TEST(bool(everywhere.c.keys[0].queued));
}

BOOST_AUTO_TEST_CASE(the_fencing_token_is_taken_over)
{
    waiting_claim fenced(true);
    fenced.take(900ms, 12ms, 12'805);
    BOOST_TEST(fenced.c.round.ballots().published() == 100u);
    BOOST_TEST(fenced.c.round.next_fence().value() == 12'806u);
    BOOST_TEST(fenced.c.value_at(1) == std::string(32, 'k') + std::string(32, 'p') + " 12 12805");
    BOOST_TEST(fenced.c.keys.valid_until() == at(900ms - 12ms - 2ms - 10ms));
    fenced.c.weigh();
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST((fenced.c.keys[i].state == key::ours));
}

// After an answer about a key, the lag is another one.
BOOST_AUTO_TEST_CASE(a_renewal_or_a_confirmation_changes_the_lag)
{
    take(900ms, 12ms);
    BOOST_TEST(!c.came_by_baton()->renewed);
    c.renewed(1, at(310ms), at(320ms));
    BOOST_TEST(c.came_by_baton()->renewed);
    BOOST_TEST(c.queue.ticket->keys_end == at(1320ms));
    waiting_claim confirmed;
    confirmed.take(200ms, 12ms);
    confirmed.c.keys.sent(1, at(1300ms));
    confirmed.c.keys.answered(1);
    confirmed.c.granted(1, at(300ms));
    confirmed.c.note_end(at(320ms));
    BOOST_TEST(confirmed.c.came_by_baton()->renewed);
    BOOST_TEST(confirmed.c.queue.ticket->keys_end == at(1320ms));
}

// No key ends later than the queue node's, as it was when the lease was given.
BOOST_AUTO_TEST_CASE(the_end_of_the_keys_is_known_from_the_baton)
{
    take(60s, 12ms);
    BOOST_TEST(c.queue.ticket->keys_end == at(60'300ms));
    c.renewed(0, at(310ms), at(320ms));
    BOOST_TEST(c.queue.ticket->keys_end == at(60'300ms)); // node 1 was not renewed
}

// Nothing of the keys is ours any more. What is left is an entry in a queue.
BOOST_AUTO_TEST_CASE(a_lease_that_another_client_has)
{
    c.queue.everywhere = true;
    take(900ms, 0ms);
    c.queue.ticket->gives = queue_ticket::passing::sent;
    c.relinquish();
    BOOST_TEST((c.gives() == queue_ticket::passing::done));
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST((c.keys[i].state == key::absent));
        BOOST_TEST(c.keys.may_hold(i) == (i == 1));
    }
    c.keys[1].queued = false;
    BOOST_TEST(!c.keys.may_hold_any());
}

// A used object knows nothing of its last baton.
BOOST_AUTO_TEST_CASE(a_new_attempt_has_no_baton)
{
    take(900ms, 12ms);
    c.stray();
    c.relinquish();
    c.begin(8, "stock:B", token_of('q'), c.params, 3);
    BOOST_TEST((c.came_by_baton() == nullptr));
    BOOST_TEST((c.gives() == queue_ticket::passing::no));
    BOOST_TEST(c.value_at(1) == std::string(32, 'q'));
    BOOST_TEST(!c.queue.ticket->strayed);
    BOOST_TEST(c.queue.ticket->entered == core::never);
    BOOST_TEST(c.queue.ticket->keys_end == core::long_ago);
}

BOOST_AUTO_TEST_SUITE_END()
