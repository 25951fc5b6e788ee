// Nodes that cannot serve as a queue node for a while.
#include "redis/pool/unfit_queue_nodes.hpp"

#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using redis::unfit_queue_nodes;

struct stale_key {
    static constexpr std::uint64_t resource = 5, owner = 77, another = 78;
    static constexpr core::time_point later = start + 600ms;
};

BOOST_FIXTURE_TEST_SUITE(unfit_queue_nodes_memory, stale_key)

// An owner that was seen for the first time may be about to ask the other nodes.
BOOST_AUTO_TEST_CASE(a_stale_key_counts_for_a_moment_at_first)
{
    unfit_queue_nodes unfit;
    BOOST_TEST(!unfit.knows_stale(resource, 1, start));
    unfit.note_stale(resource, 1, owner, start + 20s, start);
    BOOST_TEST(unfit.knows_stale(resource, 1, start + 99ms));
    BOOST_TEST(!unfit.knows_stale(resource, 1, start + 100ms));
    BOOST_TEST(!unfit.knows_stale(resource, 2, start));
    BOOST_TEST(!unfit.knows_stale(resource + 1, 1, start));
}

// A key that has not changed for longer than any attempt takes belongs to a dead owner.
BOOST_AUTO_TEST_CASE(a_stale_key_then_counts_until_it_ends)
{
    unfit_queue_nodes unfit;
    unfit.note_stale(resource, 1, owner, later + 3s, start);
    unfit.note_stale(resource, 1, owner, later + 3s, later);
    BOOST_TEST(unfit.knows_stale(resource, 1, later + 3s - 1ms));
    BOOST_TEST(!unfit.knows_stale(resource, 1, later + 3s));
    unfit.note_stale(resource, 1, owner, core::never, later); // it has no end
    BOOST_TEST(unfit.knows_stale(resource, 1, later + 10s - 1ms));
    BOOST_TEST(!unfit.knows_stale(resource, 1, later + 10s));
}

BOOST_AUTO_TEST_CASE(another_owner_counts_for_a_moment_again)
{
    unfit_queue_nodes unfit;
    unfit.note_stale(resource, 1, owner, later + 3s, start);
    unfit.note_stale(resource, 1, another, later + 3s, later);
    BOOST_TEST(unfit.knows_stale(resource, 1, later + 99ms));
    BOOST_TEST(!unfit.knows_stale(resource, 1, later + 100ms));
}

BOOST_AUTO_TEST_CASE(a_stale_key_ends_or_is_forgotten)
{
    unfit_queue_nodes unfit;
    unfit.note_stale(resource, 1, owner, start + 3ms, start);
    BOOST_TEST(!unfit.knows_stale(resource, 1, start + 3ms));
    unfit.note_stale(resource, 1, owner, start + 90ms, start);
    unfit.forget_stale(resource, 1);
    unfit.forget_stale(resource, 2);
    BOOST_TEST(!unfit.knows_stale(resource, 1, start));
}

// A key that changes hands has a new, unconfirmed owner only for a moment.
BOOST_AUTO_TEST_CASE(owners_that_have_settled)
{
    unfit_queue_nodes unfit;
    BOOST_TEST(!unfit.is_settled(resource, 1, owner, start));
    unfit.note_owner(resource, 1, owner, start);
    BOOST_TEST(!unfit.is_settled(resource, 1, owner, start + 31ms));
    unfit.note_owner(resource, 1, owner, start + 31ms);
    BOOST_TEST(unfit.is_settled(resource, 1, owner, start + 32ms));
    BOOST_TEST(!unfit.is_settled(resource, 1, another, start + 32ms));
    BOOST_TEST(!unfit.knows_stale(resource, 1, start + 32ms));
}

// A change of the key does not make the queue usable.
BOOST_AUTO_TEST_CASE(a_queue_that_cannot_be_used)
{
    unfit_queue_nodes unfit;
    unfit.note_no_queue(resource, 1, start);
    unfit.forget_stale(resource, 1);
    BOOST_TEST(unfit.knows_no_queue(resource, 1, start + 3s - 1ms));
    BOOST_TEST(!unfit.knows_stale(resource, 1, start));
    BOOST_TEST(!unfit.knows_no_queue(resource, 1, start + 3s));
}

BOOST_AUTO_TEST_CASE(bounded_memory)
{
    unfit_queue_nodes unfit;
    for (std::uint64_t i = 0; i < 100'000; ++i)
        unfit.note_no_queue(i, 0, start);
    std::size_t remembered = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i)
        remembered += unfit.knows_no_queue(i, 0, start) ? 1u : 0u;
    BOOST_TEST(remembered <= 4096u);
    BOOST_TEST(unfit.knows_no_queue(99'999, 0, start));
}

// What is known of a resource is not lost because it is noted once more.
BOOST_AUTO_TEST_CASE(a_full_memory_keeps_what_is_noted_again)
{
    unfit_queue_nodes unfit;
    unfit.note_owner(resource, 1, owner, start);
    for (std::uint64_t i = 0; i < 4095; ++i)
        unfit.note_no_queue(1000 + i, 0, start);
    unfit.note_stale(resource, 1, owner, core::never, later); // seen for longer than any attempt
    BOOST_TEST(unfit.knows_stale(resource, 1, later + 1s));
    BOOST_TEST(unfit.knows_no_queue(1000, 0, start));
}

// After three turns without a lease, for 10 s after the last one. Grants of keys say nothing about
// that.
BOOST_AUTO_TEST_CASE(turns_without_a_lease)
{
    unfit_queue_nodes unfit;
    for (int turn = 0; turn < 3; ++turn) {
        BOOST_TEST(!unfit.is_fruitless(resource, 1, start));
        unfit.note_turn_in_vain(resource, 1, start);
        unfit.forget_stale(resource, 1);
    }
    BOOST_TEST(unfit.is_fruitless(resource, 1, start + 10s - 1ns));
    BOOST_TEST(!unfit.is_fruitless(resource, 2, start));
    BOOST_TEST(!unfit.is_fruitless(resource, 1, start + 10s));
    unfit.note_turn_in_vain(resource, 1, start + 10s);
    BOOST_TEST(!unfit.is_fruitless(resource, 1, start + 10s)); // the first one again
}
BOOST_AUTO_TEST_CASE(a_lease_after_turns_without_one)
{
    unfit_queue_nodes unfit;
    for (int turn = 0; turn < 4; ++turn)
        unfit.note_turn_in_vain(resource, 1, start);
    BOOST_TEST(unfit.is_fruitless(resource, 1, start));
    unfit.note_lease(resource, 1);
    BOOST_TEST(!unfit.is_fruitless(resource, 1, start));
    unfit.note_turn_in_vain(resource, 1, start);
    BOOST_TEST(!unfit.is_fruitless(resource, 1, start));
    unfit.note_lease(resource, 2);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
