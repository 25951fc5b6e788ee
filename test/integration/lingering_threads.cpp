// Leases that linger, with several threads.
#include "integration/sticky.hpp"
#include "support/cluster.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(lingering_threads)

// Coroutines of two lockers use some resources.
struct crowd {
    static constexpr std::size_t resources = 4, users = 16, rounds = 400;

    std::array<std::atomic<int>, resources> holders{};
    std::array<std::atomic<std::uint64_t>, resources> tokens{};
    std::atomic<int> wrong = 0;
};

task use_many(crowd& all, holdfast::locker& locker, std::string prefix, std::size_t user)
{
    for (std::size_t i = 0; i < crowd::rounds; ++i) {
        const std::size_t which = (user + i / 8) % crowd::resources;
        holdfast::lock lock(locker, prefix + std::to_string(which), sticky());
        lease held = co_await lock.acquire();
        all.wrong += all.holders[which].fetch_add(1) != 0 ? 1 : 0;
        all.wrong += all.tokens[which].exchange(*held.fence()) >= *held.fence() ? 1 : 0;
        if (i % 16 == 0)
            co_await pause(1ms);
        all.holders[which].fetch_sub(1);
        co_await held.release();
    }
}

BOOST_AUTO_TEST_CASE(eight_threads)
{
    cluster c(3);
    crowd all;
    const std::string prefix = unique_name() + ":";
    asio::io_context io;
    auto work = asio::make_work_guard(io);
    std::deque<holdfast::locker> lockers;
    for (int i = 0; i < 2; ++i)
        lockers.emplace_back(io.get_executor(), c.fenced_store({.first_deployment = true}));
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&io] { io.run(); });
    std::vector<std::future<void>> ends;
    for (std::size_t user = 0; user < crowd::users; ++user)
        ends.push_back(
            asio::co_spawn(io, use_many(all, lockers[user % 2], prefix, user), asio::use_future));
    for (auto& each : ends)
        BOOST_CHECK_NO_THROW(each.get());
    std::uint64_t resumed = 0;
    for (auto& each : lockers) {
        BOOST_TEST(each.stats().lost == 0u);
        resumed += each.stats().resumed;
        each.close(asio::use_future).get();
    }
    work.reset();
    for (auto& each : threads)
        each.join();
    BOOST_TEST(all.wrong == 0);
    BOOST_TEST_MESSAGE(resumed << " leases were taken again");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
