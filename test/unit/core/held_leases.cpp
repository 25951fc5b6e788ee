// What is due for the leases of a locker.
#include "core/held_leases.hpp"

#include "support/times.hpp"

#include <holdfast/options.hpp>

#include <boost/test/unit_test.hpp>

using namespace holdfast;
using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using stage = claim_slot::stage;

namespace {

struct leases_fixture {
    static constexpr duration patience = 50ms;

    claim_slots slots;
    held_leases leases{slots};

    // Granted at the start, for 9 s, with a guard time of 1 s.
    slot_id begin(bool renews = true)
    {
        const slot_id id = slots.take();
        slots[id] = claim_slot{};
        slots[id].terms = {.ttl = 9s, .guard = 1s, .max_hold = forever, .renews = renews};
        leases.begin(id, granted(start), patience, start);
        return id;
    }
    static validity granted(time_point asked)
    {
        return {.asked = asked, .ttl = 9s, .until = asked + 9s};
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_held_leases, leases_fixture)

BOOST_AUTO_TEST_CASE(a_lease_is_renewed_then_stopped_then_over)
{
    const slot_id id = begin();
    BOOST_TEST(leases.count() == 1u);
    const time_point first = leases.wake_at();
    BOOST_TEST((first > at(2900ms) && first <= at(3s)));
    BOOST_TEST(leases.next_due(first - 1ms) == 0u);
    BOOST_TEST(leases.next_due(first) == id);
    const auto at_first = leases.service(id, first);
    BOOST_TEST((at_first.renew && !at_first.must_stop && !at_first.over));
    BOOST_TEST((leases.wake_at() == first + patience)); // no answer: again

    const auto at_guard = leases.service(id, at(8s));
    BOOST_TEST((!at_guard.renew && at_guard.must_stop && !at_guard.over));
    BOOST_TEST((leases.must_stop(id) == errc::lease_lost));
    BOOST_TEST(leases.held(id, at(8s)));
    BOOST_TEST((leases.wake_at() == at(9s)));

    const auto at_end = leases.service(id, at(9s));
    BOOST_TEST((!at_end.renew && !at_end.must_stop && at_end.over));
    leases.end(id, stage::ended);
    BOOST_TEST(leases.count() == 0u);
    BOOST_TEST(leases.alive(id));
    BOOST_TEST(!leases.is_held(id));
    BOOST_TEST((leases.valid_until(id) == long_ago));
    BOOST_TEST((leases.wake_at() == never));
    leases.forget(id);
    BOOST_TEST((leases.must_stop(id) == errc::not_held));
}

// A lease that is over before its work was told to stop needs both.
BOOST_AUTO_TEST_CASE(a_late_service_tells_all)
{
    const slot_id id = begin();
    const auto due = leases.service(id, at(20s));
    BOOST_TEST((!due.renew && due.must_stop && due.over));
}

BOOST_AUTO_TEST_CASE(a_renewal_that_is_confirmed_counts_once)
{
    const slot_id id = begin();
    leases.service(id, at(3s));
    BOOST_TEST(leases.confirm(id, granted(at(3s)), at(3010ms)).renewed);
    BOOST_TEST(!leases.confirm(id, granted(at(3s)), at(3010ms)).renewed);
    BOOST_TEST((leases.valid_until(id) == at(12s)));
    BOOST_TEST((leases.must_stop(id) == errc{}));
}

BOOST_AUTO_TEST_CASE(a_lease_with_manual_renewal_is_not_renewed)
{
    begin(false);
    BOOST_TEST((leases.wake_at() == at(8s)));
}

// All extensions at one time share one renewal. It ends with an answer to that renewal, or a later
// one, or without one.
BOOST_AUTO_TEST_CASE(an_extension_ends_with_its_answer_or_without)
{
    const slot_id id = begin();
    BOOST_TEST(leases.begin_extension(id, patience, at(1s)));
    BOOST_TEST(!leases.begin_extension(id, patience, at(1s)));
    BOOST_TEST(!leases.confirm(id, granted(at(999ms)), at(1010ms)).extended);
    BOOST_TEST(leases.confirm(id, granted(at(1s)), at(1010ms)).extended);

    BOOST_TEST(leases.begin_extension(id, patience, at(2s)));
    BOOST_TEST((leases.wake_at() == at(2s) + patience));
    BOOST_TEST(leases.service(id, at(2s) + patience).extension_failed);
    BOOST_TEST(!leases.service(id, at(2s) + patience).extension_failed);
    BOOST_TEST(!leases.confirm(id, granted(at(2s)), at(2060ms)).extended);
}

// A closing locker gives the work a guard time.
BOOST_AUTO_TEST_CASE(a_stopped_lease_ends_after_the_guard_time)
{
    const slot_id id = begin();
    BOOST_TEST(leases.stop(id, at(1s)));
    BOOST_TEST(!leases.stop(id, at(1s)));
    BOOST_TEST((leases.must_stop(id) == errc::lease_lost));
    BOOST_TEST((leases.wake_at() == at(2s)));
    BOOST_TEST(leases.service(id, at(2s)).over);
}

// Nothing happens to a lease that is being released, nor to an attempt.
BOOST_AUTO_TEST_CASE(only_a_held_lease_is_kept)
{
    const slot_id id = begin();
    leases.end(id, stage::releasing);
    BOOST_TEST(!leases.alive(id));
    BOOST_TEST((leases.must_stop(id) == errc::not_held));
    BOOST_TEST(!leases.service(id, at(9s)).over);
    BOOST_TEST(!leases.confirm(id, granted(at(3s)), at(3s)).renewed);
    BOOST_TEST(!leases.stop(id, at(3s)));

    const slot_id attempt = slots.take();
    slots[attempt] = claim_slot{};
    BOOST_TEST(!leases.alive(attempt));
    BOOST_TEST((leases.must_stop(attempt) == errc::not_held));
    BOOST_TEST(!leases.stop(attempt, at(3s)));
}

BOOST_AUTO_TEST_SUITE_END()
