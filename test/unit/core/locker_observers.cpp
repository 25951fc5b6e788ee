// What a locker measures, and what it tells its observers.
#include "core/locker_core.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

using namespace holdfast;
using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

class silent_tracer final : public tracer {
public:
    std::shared_ptr<trace_span> begin_acquire(std::string_view) noexcept override { return {}; }
};

// A locker with observers of everything. They hide those of the base.
struct observed_fixture : locker_fixture {
    explicit observed_fixture(std::size_t max_waiting = 1000)
        : watched{.retry_min = 8ms,
              .retry_max = 128ms,
              .max_waiting = max_waiting,
              .on_event = [](const event&) {},
              .event_level = event_level::debug,
              .tracer = std::make_shared<silent_tracer>()},
          observed(store, random, watched, 1)
    {}

    slot_id acquire(std::uint64_t tag, std::string_view resource = "A",
        std::chrono::milliseconds wait = 10s, bool once = false)
    {
        return observed.acquire(tag, resource, terms_of(usual), wait, once, now);
    }
    slot_id granted()
    {
        store.grant(store.latest);
        observed.wake(now);
        slot_id lease = 0;
        while (const auto e = observed.next_effect())
            lease = e->kind == effect_kind::acquired ? e->lease : lease;
        return lease;
    }
    std::string events()
    {
        std::string all;
        while (const auto e = observed.notes().next_event())
            all += std::string(name_of(e->what.kind)) + " " + e->what.resource + "; ";
        return all;
    }
    std::string marks()
    {
        constexpr const char* names[] = {
            "attempt", "queued", "vote", "decided", "given up", "granted", "failed", "over"};
        std::string all;
        while (const auto m = observed.notes().next_mark()) {
            all += names[static_cast<std::size_t>(m->kind)];
            if (m->wait != 0)
                all += " " + std::to_string(m->wait);
            if (m->reason != errc{})
                all += ": " + std::string(name_of(m->reason));
            all += "; ";
        }
        return all;
    }
    locker_stats measured() const
    {
        locker_stats s;
        observed.add_to(s);
        return s;
    }

    locker_options watched;
    locker_core observed;
};

struct small_fixture : observed_fixture {
    small_fixture() : observed_fixture(1) {}
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_locker_observers, observed_fixture)

BOOST_AUTO_TEST_CASE(durations_of_an_acquire_and_its_lease)
{
    acquire(1);
    pass(3ms); // the nodes answer
    const slot_id lease = granted();
    pass(40ms);
    observed.release(lease, 2, now);
    const locker_stats s = measured();
    BOOST_TEST((s.queue_wait.count() == 1 && s.queue_wait.sum() == 3ms));
    BOOST_TEST((s.quorum_time.count() == 1 && s.quorum_time.sum() == 3ms));
    BOOST_TEST((s.hold_time.count() == 1 && s.hold_time.sum() == 40ms));
    // 9 s less the drift of 92 ms, from before the request.
    BOOST_TEST((s.validity_left.count() == 1 && s.validity_left.sum() == 9s - 92ms - 43ms));
    BOOST_TEST(events() == "acquired A; released A; ");
    BOOST_TEST(marks() == "attempt 1; decided; granted 1; over; ");
}

// A lease that another process has given is older than the turn of the attempt.
BOOST_AUTO_TEST_CASE(the_decision_of_an_attempt_that_had_its_turn)
{
    acquire(1);
    pass(30ms);
    store.turn = now - 2ms;
    granted();
    BOOST_TEST((measured().quorum_time.sum() == 2ms));
}

// The second waiter has waited since its own call, and no quorum was needed for it.
BOOST_AUTO_TEST_CASE(durations_of_a_transferred_lease)
{
    acquire(1);
    pass(2ms);
    const slot_id first = granted();
    pass(10ms);
    acquire(2);
    pass(5ms);
    observed.drop(first, now);
    const locker_stats s = measured();
    BOOST_TEST((s.queue_wait.count() == 2 && s.queue_wait.sum() == 2ms + 5ms));
    BOOST_TEST((s.quorum_time.count() == 1 && s.quorum_time.sum() == 2ms));
    BOOST_TEST((s.hold_time.count() == 1 && s.hold_time.sum() == 15ms));
    BOOST_TEST(events() == "acquired A; released A; acquired A; ");
}

BOOST_AUTO_TEST_CASE(a_lost_lease)
{
    acquire(1);
    granted();
    pass(7ms);
    store.lose(store.latest);
    observed.wake(now);
    const locker_stats s = measured();
    BOOST_TEST((s.hold_time.count() == 1 && s.hold_time.sum() == 7ms));
    BOOST_TEST(s.validity_left.count() == 0u);
    BOOST_TEST(events() == "acquired A; lost A; ");
    BOOST_TEST(marks() == "attempt 1; decided; granted 1; over: lease_lost; ");
}

BOOST_AUTO_TEST_CASE(a_refusal_and_its_repetition)
{
    acquire(1);
    pass(2ms);
    store.refuse(store.latest);
    observed.wake(now);
    BOOST_TEST((measured().quorum_time.sum() == 2ms));
    BOOST_TEST(marks() == "attempt 1; decided: contended; ");
    now = observed.wake_at();
    observed.wake(now);
    BOOST_TEST(marks() == "attempt 1; ");
    now = std::max(now, start + 10s);
    observed.wake(now);
    BOOST_TEST(events() == "wait_failed A; ");
    BOOST_TEST(marks() == "failed 1: contended; given up; ");
}

// An attempt goes on for the next wait when the first is cancelled.
BOOST_AUTO_TEST_CASE(an_attempt_that_another_wait_takes_over)
{
    const slot_id first = acquire(1);
    acquire(2);
    observed.cancel(first, false, now);
    BOOST_TEST(marks() == "attempt 1; attempt 2; ");
    granted();
    BOOST_TEST(marks() == "decided; granted 2; ");
}

BOOST_AUTO_TEST_CASE(a_single_attempt_that_is_refused_is_no_event)
{
    acquire(1);
    granted();
    events();
    marks();
    acquire(2, "A", 0ms, true);
    BOOST_TEST(events() == "");
    BOOST_TEST(marks() == "failed 2: contended; ");
    acquire(3, "A", 0ms);
    BOOST_TEST(events() == "wait_failed A; ");
}

BOOST_AUTO_TEST_CASE(closing)
{
    acquire(1, "A");
    observed.close(now);
    observed.close(now);
    BOOST_TEST(events() == "closing ; wait_failed A; ");
}

BOOST_FIXTURE_TEST_CASE(an_overload, small_fixture)
{
    acquire(1, "A", 300ms);
    acquire(2, "B");
    pass(100ms);
    acquire(3, "C");
    BOOST_TEST(events() == "wait_failed B; overload_began ; wait_failed C; ");
    while (observed.wake_at() < start + 1099ms) {
        now = std::max(now, observed.wake_at());
        observed.wake(now);
    }
    BOOST_TEST(events() == "wait_failed A; ");
    BOOST_TEST((observed.wake_at() == start + 1100ms));
    now = observed.wake_at();
    observed.wake(now);
    BOOST_TEST(events() == "overload_ended ; ");
}

// Without observers, nothing is watched: the locker sleeps as long as before.
BOOST_AUTO_TEST_CASE(an_overload_without_observers_wakes_nobody)
{
    locker_options few = options;
    few.max_waiting = 1;
    locker_core quiet(store, random, few, 1);
    quiet.acquire(1, "A", terms_of(usual), forever, false, now);
    const time_point before = quiet.wake_at();
    quiet.acquire(2, "B", terms_of(usual), 10s, false, now);
    BOOST_TEST((quiet.wake_at() == before));
    BOOST_TEST(quiet.notes().empty());
}

BOOST_AUTO_TEST_SUITE_END()
