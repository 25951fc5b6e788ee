#pragma once

#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace benchmark {

// Leases on resources of their own, held while something else is measured. The locker must outlive
// it; to be used on one thread.
class held_leases {
public:
    held_leases(holdfast::locker& locker, std::string prefix, std::chrono::milliseconds ttl);

    // So many, a hundred at a time.
    boost::asio::awaitable<void> acquire(std::size_t count);
    boost::asio::awaitable<void> release();

    std::size_t lost() const; // of those acquired, how many are not held now

    // How long the one that ends first still has if nothing renews it.
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
