// Which wait asks the backend, and when.
#include "core/contest.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast;
using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

struct contest_fixture {
    scripted_backend store;
    counting_entropy random;
    claim_slots slots;
    wait_queues queues;
    token_source tokens{random, nullptr};
    report outcomes;
    contest all{store, tokens, slots, queues, outcomes, {.retry_min = 8ms, .retry_max = 128ms}, 1};
    time_point now = start;
    lock_options usual{.ttl = 9s};

    slot_id acquire(std::uint64_t tag, std::chrono::milliseconds wait = 10s, bool once = false)
    {
        return all.acquire(tag, "A", terms_of(usual), wait, once, now);
    }
    // The attempt under way, as the backend knows it.
    slot_id attempt() const { return store.claims.at(store.latest).tag; }
    slot_id queue() { return slots[attempt()].queue; }
    // Passes the events of the backend on. Returns the tags that got a lease.
    std::string follow()
    {
        std::string tags;
        while (const auto e = store.next_event()) {
            if (e->kind == event_kind::granted) {
                all.granted(*e, now);
                tags += std::to_string(queues.take_first(slots[e->tag].queue, e->tag));
            } else if (e->kind == event_kind::refused) {
                all.refused(*e, now);
            } else if (e->kind == event_kind::queued) {
                all.parked(e->tag);
            } else {
                all.hinted(*e, now);
            }
        }
        return tags;
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
        for (const std::string& line : store.calls)
            text += (text.empty() ? "" : ", ") + line;
        store.calls.clear();
        return text;
    }
    locker_stats stats() const
    {
        locker_stats s;
        all.add_to(s);
        return s;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_contest, contest_fixture)

// Only the first wait asks. A holder keeps the others waiting, and its end starts the next attempt.
BOOST_AUTO_TEST_CASE(waits_ask_one_after_the_other)
{
    acquire(1);
    acquire(2);
    BOOST_TEST(calls() == "attempt A");
    BOOST_TEST(stats().waiting == 2u);
    BOOST_TEST(stats().asking == 1u);
    store.grant(store.latest);
    BOOST_TEST(follow() == "1");
    const slot_id q = queue();
    BOOST_TEST(queues.first_of(q)->tag == 2u);
    BOOST_TEST(calls() == "");
    store.release(store.latest, now);
    all.end_turn(q, now);
    BOOST_TEST(queues.at(q).turns.any());
    BOOST_TEST(calls() == "release A, attempt A");
    store.grant(store.latest);
    BOOST_TEST(follow() == "2");
    BOOST_TEST(queues.first_of(q) == nullptr);
}

// A refused wait asks again after a pause; once its time is up it ends with the last error.
BOOST_AUTO_TEST_CASE(a_refused_wait_asks_again_until_its_time_is_up)
{
    acquire(1, 1s);
    store.refuse(store.latest);
    follow();
    BOOST_TEST(calls() == "attempt A");
    BOOST_TEST((all.wake_at() <= now + 8ms));
    now = all.wake_at();
    BOOST_TEST(all.try_due(now));
    BOOST_TEST(!all.try_due(now));
    BOOST_TEST(calls() == "attempt A");
    now = at(1s);
    all.end_due(now);
    BOOST_TEST(effects() == "1 ended: contended");
    BOOST_TEST(calls() == "abandon A");
    BOOST_TEST(slots.size() == 0u);
    BOOST_TEST((all.wake_at() == never));
}

// An attempt goes on for the next wait if its terms allow that.
BOOST_AUTO_TEST_CASE(the_next_wait_inherits_the_attempt)
{
    const slot_id first = acquire(1);
    acquire(2);
    BOOST_TEST(!all.cancel(first, true, now));
    BOOST_TEST(all.cancel(first, false, now));
    BOOST_TEST(!all.cancel(first, false, now));
    BOOST_TEST(calls() == "attempt A");
    store.grant(store.latest);
    BOOST_TEST(follow() == "2");
}

// A single attempt ends with its refusal, and does not stand behind others.
BOOST_AUTO_TEST_CASE(a_single_attempt_is_made_at_once_or_not_at_all)
{
    acquire(1, 0ms, true);
    BOOST_TEST(acquire(2, 0ms, true) == 0u);
    store.refuse(store.latest);
    follow();
    BOOST_TEST(effects() == "2 ended: nothing, 1 ended: nothing");
    BOOST_TEST(calls() == "attempt A");
}

// A parked attempt does not count as load.
BOOST_AUTO_TEST_CASE(a_refused_wait_joins_the_backend_queue)
{
    store.has_queue = true;
    acquire(1);
    store.refuse(store.latest);
    follow();
    BOOST_TEST(calls() == "attempt A, attempt in queue A");
    store.enqueue(store.latest);
    follow();
    BOOST_TEST(stats().asking == 0u);
    store.grant(store.latest);
    BOOST_TEST(follow() == "1");
}

BOOST_AUTO_TEST_CASE(after_the_end_of_all_nothing_is_asked)
{
    acquire(1);
    acquire(2);
    all.end_all(now);
    BOOST_TEST(acquire(3) == 0u);
    BOOST_TEST(effects() == "1 ended: closed, 2 ended: closed, 3 ended: closed");
    BOOST_TEST(calls() == "attempt A, abandon A");
    BOOST_TEST((all.wake_at() == never));
    BOOST_TEST(slots.size() == 0u);
}

// When local turns are used up, the next wait pauses for others.
BOOST_AUTO_TEST_CASE(others_get_a_pause_after_the_turns)
{
    acquire(1);
    acquire(2);
    store.grant(store.latest);
    follow();
    const slot_id q = queue();
    while (!queues.at(q).turns.used_up(queues.first_of(q)->terms))
        queues.at(q).turns.pass();
    calls();
    all.end_turn(q, now);
    BOOST_TEST(calls() == "");
    BOOST_TEST(!queues.at(q).turns.any());
    BOOST_TEST((all.wake_at() >= now + 4ms && all.wake_at() <= now + 8ms));
}

BOOST_AUTO_TEST_SUITE_END()
