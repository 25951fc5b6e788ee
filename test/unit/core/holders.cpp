// What is done for leases, from the grant on.
#include "core/holders.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

using namespace holdfast;
using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

struct holders_fixture {
    scripted_backend store;
    counting_entropy random;
    claim_slots slots;
    wait_queues queues;
    token_source tokens{random, nullptr};
    report outcomes;
    contest waits{store, tokens, slots, queues, outcomes, {}, 1};
    holders all{store, slots, queues, waits, outcomes};
    time_point now = start;

    void wait(std::uint64_t tag)
    {
        waits.acquire(tag, "A", terms_of({.ttl = 9s}), 10s, false, now);
    }
    // The lease that the attempt under way becomes.
    slot_id grant()
    {
        store.grant(store.latest);
        const auto e = store.next_event();
        waits.granted(*e, now);
        all.install(e->tag, e->valid, e->fence, now);
        return e->tag;
    }
    std::string effects()
    {
        std::string text;
        while (const auto e = outcomes.next_effect())
            text += (text.empty() ? "" : ", ") + locker_fixture::in_words(*e);
        return text;
    }
    std::string calls()
    {
        std::string text;
        for (const std::string& line : std::exchange(store.calls, {}))
            text += (text.empty() ? "" : ", ") + line;
        return text;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_holders, holders_fixture)

// Without a waiter the lease goes back to the backend; with one it stays in this process.
BOOST_AUTO_TEST_CASE(a_release_serves_the_next_wait_first)
{
    wait(1);
    wait(2);
    const slot_id first = grant();
    BOOST_TEST(all.release(first, 7, now));
    BOOST_TEST(!all.release(first, 8, now));
    BOOST_TEST(calls() == "attempt A, transfer A");
    BOOST_TEST(all.leases().count() == 1u);
    const slot_id second = queues.find("A")->holder;
    BOOST_TEST(second != first);
    BOOST_TEST(all.release(second, 9, now));
    BOOST_TEST(calls() == "release A");
    BOOST_TEST(all.leases().count() == 0u);
    all.released(second, release_outcome::released);
    all.released(second, release_outcome::released); // an answer counts once
    const std::string told = effects();
    BOOST_TEST(told.ends_with("9 released"), told);
    BOOST_TEST(slots.size() == 0u);
}

// Its holder is told once, and the resource is free for others.
BOOST_AUTO_TEST_CASE(a_lost_lease_ends_at_once)
{
    wait(1);
    const slot_id lease = grant();
    calls();
    all.lost(lease, false, now);
    all.lost(lease, false, now);
    BOOST_TEST(calls() == "release A");
    BOOST_TEST((all.leases().must_stop(lease) == errc::lease_lost));
    BOOST_TEST(!queues.holds("A"));
    BOOST_TEST(all.drop(lease, now));
    BOOST_TEST(!all.drop(lease, now));
    BOOST_TEST(calls() == "");
}

// Another extension shares the renewal that is under way.
BOOST_AUTO_TEST_CASE(an_extension_asks_once)
{
    wait(1);
    const slot_id lease = grant();
    calls();
    BOOST_TEST((all.extend(lease, now) == errc{}));
    BOOST_TEST((all.extend(lease, now) == errc{}));
    BOOST_TEST(calls() == "renew again A");
    all.lost(lease, false, now);
    BOOST_TEST((all.extend(lease, now) == errc::lease_lost));
}

BOOST_AUTO_TEST_CASE(all_leases_that_are_due_are_renewed_together)
{
    wait(1);
    grant();
    waits.acquire(2, "B", terms_of({.ttl = 9s}), 10s, false, now);
    grant();
    calls();
    now = all.wake_at();
    all.service_due(now);
    BOOST_TEST(calls() == "renew A B");
}

BOOST_AUTO_TEST_SUITE_END()
