#include "redis/queue/contention_hints.hpp"

#include "redis/quorum/rendezvous.hpp"

#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <set>
#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using namespace holdfast::redis;

BOOST_AUTO_TEST_SUITE(redlock_contention_hints)

// Resources spread over the nodes, and when one node goes only its own resources move.
BOOST_AUTO_TEST_CASE(ranks)
{
    const auto best_of = [](const std::string& resource, const std::set<std::size_t>& nodes) {
        std::size_t best = 0;
        std::uint64_t highest = 0;
        for (const std::size_t n : nodes) {
            const auto rank =
                queue_node_rank(hash_of(resource), hash_of("node" + std::to_string(n)));
            if (rank > highest) {
                highest = rank;
                best = n;
            }
        }
        return best;
    };
    std::array<int, 5> count{};
    for (int i = 0; i < 5000; ++i) {
        const std::string resource = "stock:" + std::to_string(i);
        const std::size_t all = best_of(resource, {0, 1, 2, 3, 4});
        const std::size_t without = best_of(resource, {0, 1, 3, 4});
        ++count[all];
        BOOST_TEST((all == 2 || all == without));
    }
    for (const int resources : count)
        BOOST_TEST((resources > 800 && resources < 1200), resources << " of 5000");
}

// The memory is limited: old hints are forgotten first.
BOOST_AUTO_TEST_CASE(new_hints_displace_old_ones)
{
    contention_hints known;
    for (std::uint64_t other = 2; other < 4000; ++other)
        known.note(other, start);
    known.note_turn(1, start + 1s);
    for (std::uint64_t other = 10'000; other < 10'200; ++other)
        known.note(other, start + 1s);
    BOOST_TEST(known.knows_turns(1, start + 1s));
}

// A hint is forgotten after a second, or when it is known to be wrong.
BOOST_AUTO_TEST_CASE(memory_of_contention)
{
    contention_hints known;
    BOOST_TEST(!known.knows(1, start));
    known.note(1, start);
    known.note(2, start);
    BOOST_TEST(known.knows(1, start + 999ms));
    BOOST_TEST(!known.knows(1, start + 1s));
    BOOST_TEST(!known.knows(3, start));
    known.forget(2);
    known.forget(3);
    BOOST_TEST(!known.knows(2, start));
}

// It counts for one attempt.
BOOST_AUTO_TEST_CASE(a_turn_without_a_lease)
{
    contention_hints known;
    BOOST_TEST(!known.take_fruitless(1));
    known.note_fruitless(1, start);
    known.note(1, start);
    BOOST_TEST(known.knows(1, start));
    known.forget(1); // no client waits there
    BOOST_TEST(!known.knows(1, start));
    BOOST_TEST(!known.take_fruitless(2));
    BOOST_TEST(known.take_fruitless(1));
    BOOST_TEST(!known.take_fruitless(1));
}

// Whether the queue works is remembered for as long as the contention.
BOOST_AUTO_TEST_CASE(memory_of_queues)
{
    contention_hints known;
    known.note(1, start);
    BOOST_TEST(!known.knows_turns(1, start));
    BOOST_TEST(!known.doubts(1, start));
    known.note_turn(1, start);
    known.note(1, start + 1ms);
    BOOST_TEST(known.knows_turns(1, start + 1s));
    BOOST_TEST(!known.knows_turns(1, start + 1001ms));
    known.note_doubt(1, start);
    BOOST_TEST(!known.knows_turns(1, start));
    BOOST_TEST(known.doubts(1, start));
    known.forget(1);
    BOOST_TEST(!known.doubts(1, start));
}

// However many resources are contended, memory is limited, and the newest hints count.
BOOST_AUTO_TEST_CASE(bounded_memory_of_contention)
{
    contention_hints known;
    std::size_t remembered = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i)
        known.note(i, start);
    for (std::uint64_t i = 0; i < 100'000; ++i)
        remembered += known.knows(i, start) ? 1u : 0u;
    BOOST_TEST(remembered <= 4096u);
    BOOST_TEST(known.knows(99'999, start));
}

BOOST_AUTO_TEST_CASE(a_full_memory_of_contention_keeps_all_when_one_is_noted_again)
{
    contention_hints known;
    for (std::uint64_t i = 0; i < 4096; ++i)
        known.note(i, start);
    known.note(7, start);
    BOOST_TEST(known.knows(0, start));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
