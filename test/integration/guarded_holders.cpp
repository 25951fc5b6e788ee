// Guarded writes of several holders of one lock, some of them late.
#include "integration/protected_store.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_FIXTURE_TEST_SUITE(guarded_holders, protected_store)

// Two holders. The first was paused between its read and its write.
BOOST_AUTO_TEST_CASE(a_paused_holder_cannot_overwrite_its_successor)
{
    put(stock, "5");
    BOOST_TEST(get(1) == "5");
    BOOST_TEST(get(2) == "5");
    BOOST_TEST(set(1, "4").starts_with("(error) FENCED")); // the successor has only read so far
    BOOST_TEST(set(2, "4") == "OK");
    BOOST_TEST(set(1, "4").starts_with("(error) FENCED"));
    BOOST_TEST(value(stock) == "4");
}

// This is why a holder begins with `guarded_get()`.
BOOST_AUTO_TEST_CASE(a_read_without_a_token_does_not_exclude_the_previous_holder)
{
    put(stock, "5");
    BOOST_TEST(get(1) == "5");
    BOOST_TEST(value(stock) == "5"); // the second holder
    BOOST_TEST(set(1, "4") == "OK");
    BOOST_TEST(set(2, "4") == "OK"); // the update of the first is lost
    BOOST_TEST(value(stock) == "4");
}

// Many holders read and write at any time after their grant. Each accepted write continues from the
// last accepted one.
BOOST_AUTO_TEST_CASE(no_update_is_lost_in_any_order)
{
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        server.command({"FLUSHALL"});
        put(stock, "0");
        std::array<std::string, 4> read;
        std::vector<std::size_t> steps{0, 0, 1, 1, 2, 2, 3, 3};
        std::shuffle(steps.begin(), steps.end(), random);
        long accepted = 0;
        for (const auto holder : steps) {
            const auto token = 1'000 + holder;
            if (read[holder].empty())
                read[holder] = get(token);
            else if (!read[holder].starts_with("(error)") &&
                     set(token, std::to_string(std::stol(read[holder]) + 1)) == "OK")
                ++accepted;
        }
        BOOST_TEST(value(stock) == std::to_string(accepted));
        BOOST_TEST(accepted >= 1);
    }
}

BOOST_AUTO_TEST_CASE(concurrent_writers_take_each_item_once)
{
    constexpr unsigned writers = 4, takes = 200, items = 500;
    put(stock, std::to_string(items));
    std::array<unsigned, writers> taken{};
    std::vector<std::thread> all;
    for (unsigned writer = 0; writer < writers; ++writer) {
        all.emplace_back([&, writer] {
            redis_client own;
            for (unsigned i = 0; i < takes; ++i) {
                const auto what = guarded_take(fence, 1'000, stock, 1).command();
                const auto reply = own.command(server.port(), what, std::chrono::seconds(5));
                taken[writer] += reply != "-1" && !reply.starts_with("(error)");
            }
        });
    }
    for (auto& each : all)
        each.join();
    BOOST_TEST(taken[0] + taken[1] + taken[2] + taken[3] == items);
    BOOST_TEST(value(stock) == "0");
}

task hold_past_the_end(scene& s, protected_store& store)
{
    const std::string &fence = store.fence, &stock = store.stock;
    lock_options brief;
    brief.ttl = 1s;
    brief.renewal = renewal::manual; // as if the holder were paused
    lease first = co_await s.lock(0, brief).acquire();
    BOOST_TEST(store.send(guarded_get(fence, first.fence(), stock)) == "5");

    lease second = co_await s.lock(1, brief).acquire();
    BOOST_TEST(!first.held());
    BOOST_TEST((second.fence() > first.fence()));
    BOOST_TEST(store.send(guarded_get(fence, second.fence(), stock)) == "5");
    const auto late = store.send(guarded_set(fence, first.fence(), stock, "4"));
    BOOST_TEST(late.starts_with("(error) FENCED"), late);
    BOOST_TEST(store.send(guarded_take(fence, second.fence(), stock, 1)) == "4");
    BOOST_TEST(store.send(guarded_take(fence, second.fence(), stock, 1)) == "3");
}

BOOST_AUTO_TEST_CASE(a_holder_past_the_end_of_its_lease_is_refused)
{
    put(stock, "5");
    cluster nodes(3);
    fencing_options settings;
    settings.first_deployment = true;
    play(nodes.fenced_store(settings), 2, [&](scene& s) { return hold_past_the_end(s, *this); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
