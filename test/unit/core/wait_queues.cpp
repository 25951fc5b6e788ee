#include "core/wait_queues.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace holdfast::core;

namespace {

// The tags of a queue from first to last. Also checks that the backward links agree.
std::vector<std::uint64_t> tags(wait_queues& all, slot_id queue)
{
    std::vector<std::uint64_t> forwards, backwards;
    for (slot_id w = all.at(queue).first; w != 0; w = all.wait_at(w).behind)
        forwards.push_back(all.wait_at(w).tag);
    for (slot_id w = all.at(queue).last; w != 0; w = all.wait_at(w).before)
        backwards.push_back(all.wait_at(w).tag);
    std::reverse(backwards.begin(), backwards.end());
    BOOST_TEST(forwards == backwards);
    return forwards;
}

} // namespace

BOOST_AUTO_TEST_SUITE(core_wait_queues)

// A resource has one queue while it is in use, and a new one afterwards.
BOOST_AUTO_TEST_CASE(a_queue_lives_while_it_is_used)
{
    wait_queues all;
    const slot_id a = all.open("A");
    BOOST_TEST(all.open("A") == a);
    BOOST_TEST(all.open("B") != a);
    BOOST_TEST(all.size() == 2u);
    const slot_id w = all.append(a, {.tag = 1});
    all.close_if_unused(a);
    BOOST_TEST(all.find(a) != nullptr);
    all.remove(w);
    all.at(a).holder = 99;
    all.close_if_unused(a);
    BOOST_TEST(all.find(a) != nullptr);
    all.at(a).holder = 0;
    all.close_if_unused(a);
    BOOST_TEST(all.find(a) == nullptr);
    BOOST_TEST(all.open("A") != a);
}

BOOST_AUTO_TEST_CASE(the_first_wait_becomes_the_holder)
{
    wait_queues all;
    const slot_id a = all.open("A");
    BOOST_TEST(all.first_of(a) == nullptr);
    all.append(a, {.tag = 1});
    all.append(a, {.tag = 2});
    BOOST_TEST(all.first_of(a)->tag == 1u);
    BOOST_TEST(!all.holds("A"));
    BOOST_TEST(all.take_first(a, 99) == 1u);
    BOOST_TEST(all.at(a).holder == 99u);
    BOOST_TEST(all.holds("A"));
    BOOST_TEST(!all.holds("B"));
    BOOST_TEST(all.first_of(a)->tag == 2u);
}

// A queue that reuses a slot starts with fresh state.
BOOST_AUTO_TEST_CASE(a_reused_slot_has_fresh_state)
{
    wait_queues all;
    const slot_id a = all.open("A");
    wait_queue& q = all.at(a);
    q.failures = 9;
    q.turns.pass();
    q.place = 9;
    q.retry_at = never;
    all.close_if_unused(a);
    const wait_queue& next = all.at(all.open("B"));
    BOOST_TEST(&next == &q);
    BOOST_TEST(next.resource == "B");
    BOOST_TEST(next.failures == 0u);
    BOOST_TEST(!next.turns.any());
    BOOST_TEST(next.place == 0u);
    BOOST_TEST((next.retry_at == long_ago));
}

// Names are found while other queues are opened and closed, and while the tables grow.
BOOST_AUTO_TEST_CASE(names_are_found_while_tables_grow)
{
    wait_queues all;
    std::vector<slot_id> ids;
    for (int i = 0; i < 5000; ++i)
        ids.push_back(all.open("resource " + std::to_string(i)));
    for (std::size_t i = 0; i < ids.size(); i += 2)
        all.close_if_unused(ids[i]);
    for (std::size_t i = 1; i < ids.size(); i += 2)
        BOOST_REQUIRE(all.open("resource " + std::to_string(i)) == ids[i]);
    BOOST_TEST(all.size() == ids.size() / 2);
}

// The order stays first come, first served, wherever waiters are removed.
BOOST_AUTO_TEST_CASE(removal_anywhere_keeps_the_order)
{
    std::mt19937 random(1);
    wait_queues all;
    const slot_id q = all.open("A");
    all.at(q).holder = 1;
    std::vector<std::uint64_t> model;
    std::vector<slot_id> ids;
    for (std::uint64_t tag = 1; tag < 3000; ++tag) {
        if (model.empty() || random() % 8 > 3) {
            ids.push_back(all.append(q, {.tag = tag}));
            model.push_back(tag);
        } else {
            const std::size_t k = random() % 3 == 0 ? 0 : random() % model.size();
            all.remove(ids[k]);
            ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(k));
            model.erase(model.begin() + static_cast<std::ptrdiff_t>(k));
        }
        if (tag % 16 == 0)
            BOOST_REQUIRE(tags(all, q) == model);
        BOOST_REQUIRE(all.waiting() == model.size());
    }
}

// A wait is due when it ends, once, unless it has left or its clock was stopped. So is a queue when
// it is to be tried.
BOOST_AUTO_TEST_CASE(waits_and_queues_become_due)
{
    using namespace std::chrono_literals;
    const time_point start{1h};
    wait_queues all;
    const slot_id a = all.open("A");
    const slot_id late = all.append(a, {.tag = 1, .ends = start + 3s});
    const slot_id early = all.append(a, {.tag = 2, .ends = start + 1s});
    const slot_id stopped = all.append(a, {.tag = 3, .ends = start + 1s});
    const slot_id left = all.append(a, {.tag = 4, .ends = start + 1s});
    all.append(a, {.tag = 5});
    all.stop_clock(stopped);
    all.remove(left);
    BOOST_TEST((all.wake_at() == start + 1s));
    BOOST_TEST(all.next_wait_due(start) == 0u);
    BOOST_TEST(all.next_wait_due(start + 3s) == early);
    BOOST_TEST(all.next_wait_due(start + 3s) == late);
    BOOST_TEST(all.next_wait_due(start + 3s) == 0u);

    all.try_at(a, start + 2s);
    all.try_at(a, start + 1s);
    BOOST_TEST((all.wake_at() == start + 1s));
    BOOST_TEST(all.next_queue_due(start + 1s) == a);
    BOOST_TEST(all.next_queue_due(start + 2s) == 0u);
    all.try_at(a, start + 2s);
    all.do_not_try(a);
    BOOST_TEST((all.wake_at() == never));
}

BOOST_AUTO_TEST_SUITE_END()
