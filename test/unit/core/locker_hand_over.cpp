// Transfer of a lease from one local holder to the next, without requests to the nodes.
#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using core::slot_id;

BOOST_FIXTURE_TEST_SUITE(core_locker_hand_over, lease_fixture)

// The release completes at once. The next holder has the same claim, under a lease of its own.
BOOST_AUTO_TEST_CASE(each_holder_has_its_own_lease)
{
    const slot_id first = lease_of("A");
    acquire(2, "A", holdfast::forever);
    pass(1s);
    BOOST_TEST(locker.release(first, 77, now));
    BOOST_TEST(calls() == "transfer A");
    const auto gone = locker.next_effect(), acquired = locker.next_effect();
    BOOST_REQUIRE((gone && acquired));
    BOOST_TEST(in_words(*gone) == "gone");
    BOOST_TEST(gone->lease == first);
    BOOST_TEST(in_words(*acquired) == "2 acquired");
    BOOST_TEST(effects() == "77 released");
    const slot_id second = acquired->lease;
    BOOST_TEST(second != first);
    BOOST_TEST(locker.leases().valid_until(second) == end);

    // Further calls of the first holder have no effect.
    BOOST_TEST(!locker.release(first, 78, now));
    locker.drop(first, now);
    BOOST_TEST(locker.extend(first, now) == errc::not_held);
    BOOST_TEST(!locker.leases().held(first, now));
    BOOST_TEST(locker.leases().held(second, now));
    BOOST_TEST(effects() == "");
    BOOST_TEST(calls() == "");

    store.lose(1); // is reported to the second holder
    locker.wake(now);
    const auto lost = locker.next_effect();
    BOOST_REQUIRE(lost.has_value());
    BOOST_TEST(lost->lease == second);
    BOOST_TEST(stats().handed_over == 1u);
    BOOST_TEST(stats().lost == 1u);
}

// Renewal times count from the grant of the claim, not from the transfer.
BOOST_AUTO_TEST_CASE(renewal_goes_on)
{
    const slot_id first = lease_of("A");
    acquire(2, "A", holdfast::forever);
    pass(2s);
    locker.drop(first, now);
    calls();
    while (store.calls.empty())
        sleep();
    BOOST_TEST(calls() == "renew A");
    BOOST_TEST(now > at(2900ms));
    BOOST_TEST(now <= at(3s));
    store.confirm(1, now + 9s - 92ms);
    locker.wake(now);
    effects();
    sleep_until(at(5800ms));
    BOOST_TEST(calls() == "");
    BOOST_TEST(effects() == "");
    BOOST_TEST(stats().renewals == 1u);
}

// There is no transfer in the guard time of the next holder: its work would have to stop at once.
BOOST_AUTO_TEST_CASE(no_transfer_in_the_guard_time)
{
    for (const bool in_time : {true, false}) {
        locker_fixture f;
        f.usual.renewal = holdfast::renewal::manual;
        f.usual.handoff_time = 1h;
        f.acquire(1, "A", holdfast::forever);
        const slot_id first = f.granted();
        f.usual.guard = 450ms;
        f.acquire(2, "A", holdfast::forever);
        f.calls();
        f.now = end - 450ms - (in_time ? 1ns : 0ns);
        f.locker.drop(first, f.now);
        BOOST_TEST(f.calls() == (in_time ? "transfer A" : "release A, attempt A"));
    }
}

// There is no transfer after a loss, even if the locker has not read that event yet.
BOOST_AUTO_TEST_CASE(no_transfer_after_a_loss)
{
    const slot_id first = lease_of("A");
    acquire(2, "A", holdfast::forever);
    store.lose(1);
    locker.drop(first, now);
    BOOST_TEST(calls() == "release A, attempt A");
    BOOST_TEST(effects() == "must stop, gone");
    BOOST_TEST(stats().handed_over == 0u);
}

BOOST_AUTO_TEST_CASE(no_transfer_while_closing)
{
    const slot_id first = lease_of("A");
    acquire(2, "A", holdfast::forever);
    locker.close(now);
    locker.drop(first, now);
    BOOST_TEST(calls() == "release A, close");
    BOOST_TEST(effects() == "2 ended: closed, must stop, gone, closed");
}

// A max_hold limits one holder. The next holder gets the whole rest of the validity.
BOOST_AUTO_TEST_CASE(max_hold_of_one_holder_does_not_limit_the_next)
{
    usual.max_hold = 1s;
    const slot_id first = lease_of("A");
    usual.max_hold = holdfast::forever;
    acquire(2, "A", holdfast::forever);
    BOOST_TEST(locker.leases().valid_until(first) == at(1s));
    locker.drop(first, now);
    BOOST_TEST(locker.leases().valid_until(handed_over()) == end);
}

// The next holder has its own fencing token, if the backend has tokens.
BOOST_AUTO_TEST_CASE(each_holder_has_its_own_fencing_token)
{
    acquire(1);
    acquire(2);
    store.grant(1, end, 41);
    store.next_fence = 42;
    locker.wake(now);
    const auto first = locker.next_effect();
    BOOST_REQUIRE(first.has_value());
    locker.drop(first->lease, now);
    locker.next_effect(); // gone
    const auto second = locker.next_effect();
    BOOST_REQUIRE(second.has_value());
    BOOST_TEST((second->fence == std::optional<std::uint64_t>(42)));
}

// When the tokens of a claim are used up, it is released, and an attempt is made for the next
// waiter.
BOOST_AUTO_TEST_CASE(no_transfer_without_a_token_for_the_next_holder)
{
    const slot_id first = lease_of("A");
    acquire(2, "A", holdfast::forever);
    store.has_next_fence = false;
    locker.drop(first, now);
    BOOST_TEST(calls() == "release A, attempt A");
    store.has_next_fence = true;
    BOOST_TEST(granted() != 0u);
    BOOST_TEST(stats().handed_over == 0u);
}

// A pending extension is dropped when its holder releases the lease.
BOOST_AUTO_TEST_CASE(extensions_are_not_transferred)
{
    const slot_id first = lease_of("A");
    acquire(2, "A", holdfast::forever);
    BOOST_TEST(locker.extend(first, now) == errc{});
    locker.drop(first, now);
    const slot_id second = handed_over();
    store.confirm(1, now + 9s - 92ms);
    locker.wake(now);
    BOOST_TEST(effects() == "");
    BOOST_TEST(locker.leases().held(second, now));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
