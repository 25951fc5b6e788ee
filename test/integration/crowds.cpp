// A burst: as many coroutines as a flash sale has customers acquire a lock each, at the same time.
#include "support/cluster.hpp"

#include <boost/asio/detached.hpp>

#include <malloc.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(crowds)

constexpr std::size_t crowd = HOLDFAST_CROWD;
constexpr std::size_t bystanders = 1'000; // hold leases during the burst
constexpr auto time_limit = 60s;

std::size_t keys_on(redis_server& node)
{
    return std::stoul(node.command({"DBSIZE"}));
}

backend default_store(const cluster& c)
{
    return redlock(endpoints(c.nodes));
}

// The results of many acquires, each of another resource.
struct leases_of_many {
    std::vector<lease> held;
    std::map<std::string, std::size_t> failures; // by message
    std::size_t ended = 0;

    void acquire(scene& s, std::string_view prefix, std::size_t count, const lock_options& options)
    {
        const std::size_t all = ended + count;
        held.reserve(held.size() + count);
        for (std::size_t i = 0; i < count; ++i) {
            const std::string name = std::string(prefix) + std::to_string(i);
            asio::co_spawn(
                s.io,
                [](leases_of_many& to, holdfast::lock lock) -> task {
                    auto [ec, got] = co_await lock.acquire(time_limit, no_throw);
                    if (ec)
                        ++to.failures[ec.message()];
                    else
                        to.held.push_back(std::move(got));
                    ++to.ended;
                }(*this, holdfast::lock(s.locker(), name, options)),
                asio::detached);
        }
        run_until(
            s.io, [&] { return ended == all; }, 2 * time_limit);
        for (const auto& [message, times] : failures)
            BOOST_ERROR(message << ", " << times << " times");
    }
};

// If all attempts were sent at once, they would time out in our own backlog, be deleted and be
// repeated, and renewals would be skipped meanwhile.
BOOST_AUTO_TEST_CASE(all_are_granted_and_other_leases_are_kept)
{
    cluster c(3);
    scene s(default_store(c));
    leases_of_many kept, burst;
    kept.acquire(s, "kept:", bystanders, {});
    const auto begin = steady::now();
    burst.acquire(s, "burst:", crowd, {});
    BOOST_TEST_MESSAGE(crowd << " locks within " << (steady::now() - begin) / 1ms << " ms");
    BOOST_TEST(burst.held.size() == crowd);
    burst.held.clear();

    // Waits until each lease has been renewed since.
    const auto renewed = s.locker().stats().renewals + 2 * bystanders;
    run_until(s.io, [&] { return s.locker().stats().renewals >= renewed; });
    for (const lease& each : kept.held)
        BOOST_REQUIRE(each.held());
    const auto stats = s.locker().stats();
    BOOST_TEST(stats.lost == 0u);
    BOOST_TEST(describe_nodes(stats) == "");
    kept.held.clear();
    s.finish();
    BOOST_TEST(c.empty_within(0s));
}

double allocated_bytes()
{
    const auto heap = ::mallinfo2();
    return static_cast<double>(heap.uordblks + heap.hblkhd);
}

// The lock objects are gone. Sanitizers have an allocator of their own, which tells nothing here.
BOOST_AUTO_TEST_CASE(a_lease_takes_at_most_a_kilobyte)
{
    cluster c(5);
    scene s(redlock(endpoints(c.nodes)));
    leases_of_many all;
    constexpr std::size_t at_once = 100;
    const auto acquire_some = [&] {
        all.acquire(s, std::to_string(all.held.size()) + '-', at_once, {});
    };
    acquire_some();
    const double before = allocated_bytes();
    while (all.held.size() < crowd)
        acquire_some();
    const double each = (allocated_bytes() - before) / static_cast<double>(crowd - at_once);
    BOOST_TEST_MESSAGE(each << " bytes for each lease");
    BOOST_TEST(each <= 1024);
    all.held.clear();
    s.finish();
}

// There is no time limit while nodes confirm releases.
BOOST_AUTO_TEST_CASE(close_deletes_all_keys)
{
    cluster c(3);
    scene s(default_store(c));
    lock_options options;
    options.ttl = 10min;
    options.guard = 50ms;
    leases_of_many all;
    all.acquire(s, "held:", crowd, options);
    BOOST_TEST(all.held.size() == crowd);
    for (auto& node : c.nodes)
        BOOST_TEST(keys_on(node) > crowd / 2);

    bool closed = false;
    s.locker().close([&](error_code ec) {
        BOOST_TEST(!ec, ec.message());
        closed = true;
    });
    run_until(s.io, [&] { return closed; });
    for (auto& node : c.nodes)
        BOOST_TEST(keys_on(node) == 0u);
    expect_no_work_left(s.io);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
