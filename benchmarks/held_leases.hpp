#pragma once

#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace benchmark {

// Leases on distinct resources, held during a measurement. The locker must outlive this object.
// Must be used on one thread.
class held_leases {
public:
    held_leases(holdfast::locker& locker, std::string prefix, std::chrono::milliseconds ttl);

    // Acquires this many leases, a hundred at a time.
    boost::asio::awaitable<void> acquire(std::size_t count);
    boost::asio::awaitable<void> release();

    std::size_t lost() const; // number of acquired leases that are not held now

    // The time left of the lease that ends first.
    std::chrono::milliseconds shortest_rest() const;

private:
    using share = boost::asio::awaitable<void> (held_leases::*)();
    boost::asio::awaitable<void> share_out(share one);
    boost::asio::awaitable<void> acquire_share();
    boost::asio::awaitable<void> release_share();

    holdfast::locker& locker_;
    const std::string prefix_;
    holdfast::lock_options options_;
    std::vector<holdfast::lease> leases_;
    std::size_t wanted_ = 0, next_ = 0, running_ = 0;
};

} // namespace benchmark
