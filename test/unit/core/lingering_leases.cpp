// What is due for leases that are not in use.
#include "core/lingering_leases.hpp"

#include "support/times.hpp"

#include <holdfast/options.hpp>

#include <boost/test/unit_test.hpp>

using namespace holdfast;
using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using stage = claim_slot::stage;

namespace {

struct lingering_fixture {
    static constexpr duration patience = 50ms;

    claim_slots slots;
    lingering_leases leases{slots};

    // Granted at the start, for 9 s, with a guard time of 1 s.
    slot_id begin(std::uint32_t linger_ms, bool renews = true, time_point now = start)
    {
        const slot_id id = slots.take();
        slots[id] = claim_slot{};
        slots[id].terms = {
            .ttl = 9s, .guard = 1s, .max_hold = 2s, .linger_ms = linger_ms, .renews = renews};
        slots[id].keeper = lease_keeper(slots[id].terms, granted(start), start, patience);
        slots[id].keeper.end(); // for its holder
        leases.begin(id, patience, now);
        return id;
    }
    static validity granted(time_point asked)
    {
        return {.asked = asked, .ttl = 9s, .until = asked + 9s};
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_lingering_leases, lingering_fixture)

// The time counts from the end of the last hold. `max_hold` was that of the last holder.
BOOST_AUTO_TEST_CASE(a_lease_lingers_for_its_time)
{
    const slot_id id = begin(2500, true, at(100ms));
    BOOST_TEST(lingers(slots, id));
    BOOST_TEST(leases.count() == 1u);
    BOOST_TEST((leases.wake_at() == at(2600ms)));
    BOOST_TEST(leases.next_due(at(2600ms) - 1ns) == 0u);
    BOOST_TEST(!leases.service(id, at(2600ms) - 1ns).over);
    BOOST_TEST(leases.next_due(at(2600ms)) == id);
    BOOST_TEST(leases.service(id, at(2600ms)).over);
    leases.end(id);
    BOOST_TEST(!lingers(slots, id));
    BOOST_TEST(leases.count() == 0u);
    BOOST_TEST((leases.wake_at() == never));
}

BOOST_AUTO_TEST_CASE(it_is_renewed_like_a_lease_in_use)
{
    const slot_id id = begin(60'000);
    const time_point first = leases.wake_at();
    BOOST_TEST((first > at(2900ms) && first <= at(3s)));
    BOOST_TEST(leases.next_due(first) == id);
    const auto due = leases.service(id, first);
    BOOST_TEST((due.renew && !due.over));
    BOOST_TEST((leases.wake_at() == first + patience)); // no answer: again
    BOOST_TEST(leases.confirm(id, granted(first), first + 1ms));
    BOOST_TEST(!leases.confirm(id, granted(first), first + 1ms));
    BOOST_TEST((leases.wake_at() > first + 2s));
}

// It would be of no use to the next holder.
BOOST_AUTO_TEST_CASE(it_ends_a_guard_time_before_its_validity)
{
    const slot_id id = begin(60'000, false);
    BOOST_TEST((leases.wake_at() == at(8s)));
    BOOST_TEST(leases.service(id, at(8s)).over);
}

// As a store tells that a node has lost the key.
BOOST_AUTO_TEST_CASE(a_shorter_validity_counts)
{
    const slot_id id = begin(60'000, false);
    BOOST_TEST(!leases.confirm(id, {.asked = start, .ttl = 9s, .until = at(4s)}, at(1s)));
    BOOST_TEST((leases.wake_at() == at(3s)));
    BOOST_TEST(leases.service(id, at(3s)).over);
}

BOOST_AUTO_TEST_CASE(a_late_service_ends_it)
{
    BOOST_TEST(leases.service(begin(100), at(20s)).over);
}

BOOST_AUTO_TEST_CASE(only_a_lease_that_lingers_is_confirmed)
{
    const slot_id id = begin(100);
    leases.end(id);
    BOOST_TEST(!leases.confirm(id, granted(at(1s)), at(1s)));
    slots.give_back(id);
    BOOST_TEST(!leases.confirm(id, granted(at(1s)), at(1s)));
    BOOST_TEST(!lingers(slots, id));
}

BOOST_AUTO_TEST_SUITE_END()
