#pragma once

#include "support/child_process.hpp"
#include "support/fault_proxy.hpp"
#include "support/temporary_folder.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

struct zookeeper_settings {
    std::size_t servers = 1;
    unsigned tick_ms = 500;           ///< sessions last 2 to 20 ticks
    unsigned sync_ticks = 10;         ///< a server without news of the others serves so long
    std::vector<std::string> lines{}; ///< of zoo.cfg
    std::vector<std::string> java{};  ///< more arguments of it; the last one of a kind counts
    bool can_be_isolated = false;     ///< servers reach each other through proxies
    /// For a second port, for TLS: a file with the server's key and certificate, and one with the
    /// authority. Empty: there is no such port.
    std::string key_store{}, trust_store{};
    unsigned container_ms = 60'000; ///< how often empty containers are removed
    /// Nodes that are there from the beginning, which seem to have seen so many creations of nodes
    /// under them.
    std::map<std::string, std::int32_t> aged{};
};

/// Real ZooKeeper servers on free loopback ports, which form one ensemble. Their data is not
/// synchronized to the disk, unless `java` has `-Dzookeeper.forceSync=yes`.
///
/// The destructor stops them. They also end with the thread that started them, as every child
/// process.
class zookeeper_servers {
public:
    /// Returns when all servers serve. Throws `std::runtime_error` with a server's own log.
    explicit zookeeper_servers(zookeeper_settings settings = {});
    zookeeper_servers(zookeeper_servers&&) noexcept;
    zookeeper_servers& operator=(zookeeper_servers&&) noexcept;
    ~zookeeper_servers();

    std::size_t size() const noexcept { return servers_.size(); }
    std::uint16_t port(std::size_t server = 0) const noexcept;        ///< for clients
    std::uint16_t secure_port(std::size_t server = 0) const noexcept; ///< for clients with TLS
    /// Of all servers.
    std::string url(const std::string& root = "/holdfast") const;
    /// "127.0.0.1:1,127.0.0.1:2", as other clients have it.
    std::string hosts() const;

    void kill(std::size_t server) noexcept; ///< SIGKILL; returns when the process has ended
    void restart(std::size_t server);       ///< with its data; returns when it serves
    void pause(std::size_t server);         ///< SIGSTOP
    void resume(std::size_t server);        ///< SIGCONT
    /// Nothing gets from or to it to or from other servers. Clients still reach it.
    void isolate(std::size_t server);
    void reconnect(std::size_t server);

    /// What the server says that it is: "leader", "follower", "standalone"; empty: it serves
    /// nobody.
    std::string mode(std::size_t server) const;
    /// Which server leads. Throws if none does in time.
    std::size_t leader() const;

private:
    struct one_server;
    struct wire;

    bool start();
    void launch(std::size_t server);
    bool wait_until_ready();
    bool is_ready(std::size_t server) const;
    void cut(std::size_t server, const link_faults& faults);

    zookeeper_settings settings_;
    std::vector<std::unique_ptr<one_server>> servers_;
    std::vector<std::unique_ptr<wire>> wires_; // between servers
};

} // namespace holdfast::test
