// The members of a lease that many threads may call. The thread sanitizer checks the accesses.
#include "support/run.hpp"

#include <holdfast/read_write_lock.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(lease_threads)

constexpr std::size_t threads = 4;
constexpr int renewals = 100;

lock_options long_lived()
{
    lock_options options;
    options.ttl = 60s; // no lease ends by time
    options.guard = 100ms;
    return options;
}

// Threads that read a lease until it is not held any more.
template <class Lease>
class readers {
public:
    explicit readers(const Lease& held) : held_(held), name_(held.resource()), fence_(held.fence())
    {
        while (all_.size() < threads)
            all_.emplace_back([this] { read(); });
        while (reading_ < threads)
            std::this_thread::yield();
    }

    // How often a thread has seen what cannot be.
    int finish()
    {
        for (std::thread& each : all_)
            each.join();
        return wrong_;
    }

private:
    void read()
    {
        check(held_.held());
        ++reading_;
        const auto deadline = steady::now() + hang_limit;
        do {
            check(held_.resource() == name_ && held_.fence() == fence_);
            const auto ends = held_.valid_until();
            check(ends <= steady::now() + long_lived().ttl);
            check(steady::now() < deadline);
            std::this_thread::yield(); // the others use the same mutex
        } while (held_.held() && wrong_ == 0);
        check(!held_.held() && held_.valid_until() <= steady::now());
        check(held_.resource() == name_ && held_.fence() == fence_);
    }
    void check(bool right) { wrong_ += right ? 0 : 1; }

    const Lease& held_;
    const std::string name_;
    const std::optional<std::uint64_t> fence_;
    std::vector<std::thread> all_;
    std::atomic<std::size_t> reading_ = 0;
    std::atomic<int> wrong_ = 0;
};

BOOST_AUTO_TEST_CASE(many_threads_read_a_lease_that_is_renewed_and_taken_away)
{
    asio::thread_pool pool(2);
    holdfast::locker locker(pool.get_executor(), memory());
    const holdfast::lock lock(locker, unique_name(), long_lived());
    lease held = lock.acquire(asio::use_future).get();
    BOOST_TEST(held.fence().has_value());
    readers all(held);
    for (int i = 0; i < renewals; ++i)
        held.extend(asio::use_future).get();
    locker.force_release(lock.resource(), asio::use_future).get();
    BOOST_TEST(all.finish() == 0);
    locker.close(asio::detached);
    pool.join();
}

BOOST_AUTO_TEST_CASE(many_threads_read_a_shared_lease_whose_locker_is_closed)
{
    asio::thread_pool pool(2);
    holdfast::locker locker(pool.get_executor(), memory());
    const read_write_lock book(locker, unique_name(), long_lived());
    shared_lease held = book.acquire_shared(asio::use_future).get();
    readers all(held);
    locker.close(asio::detached); // the lease lasts for its guard time
    BOOST_TEST(all.finish() == 0);
    pool.join();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
