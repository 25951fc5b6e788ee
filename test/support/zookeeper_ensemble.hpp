#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

struct zookeeper_ensemble_settings {
    std::chrono::nanoseconds tick = std::chrono::milliseconds(500);
    /// Nodes that are there from the beginning, under which there seem to have been so many
    /// creations. One server only.
    std::map<std::string, std::int32_t> aged{};
};

/// Real ZooKeeper servers on free loopback ports, which form an ensemble. One server stands alone.
///
/// The destructor stops them. They also end with the thread that started them, as every child
/// process.
class zookeeper_ensemble {
public:
    /// Returns when all servers serve clients. Throws `std::runtime_error` with a server's own log.
    explicit zookeeper_ensemble(std::size_t servers = 1, zookeeper_ensemble_settings s = {});
    zookeeper_ensemble(zookeeper_ensemble&&) noexcept;
    ~zookeeper_ensemble();

    std::size_t size() const noexcept { return servers_.size(); }
    std::uint16_t port(std::size_t server = 0) const noexcept; ///< for clients

private:
    struct one_server;
    bool start();
    void configure(std::size_t server);
    bool wait_until_ready();

    zookeeper_ensemble_settings settings_;
    std::vector<std::unique_ptr<one_server>> servers_;
};

} // namespace holdfast::test
