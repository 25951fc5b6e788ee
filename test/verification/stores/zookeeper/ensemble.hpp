#pragma once

#include "support/zookeeper_tree.hpp"
#include "verification/stores/zookeeper/message_line.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace holdfast::zookeeper_simulation {

class reign;
class server;

struct ensemble_settings {
    std::size_t servers = 3;
    duration tick = 2s;
    duration longest_session{}; // that is granted; 0: 20 ticks. The shortest one is two ticks.
    int sync_ticks = 5;         // so long a server is believed to be there without a word
    duration container_interval = 60s;
    duration command{}; // the time that a server's thread spends on a request
    duration slowest_disk = 2ms;
    bool replaces_sessions = false; // one that has ended, by a new one: other servers do so
    bool fast_clocks = false;       // as fast as is allowed
    std::int64_t first_ms = 1'700'000'000'000; // since the epoch
};

// What goes wrong, as probabilities.
struct troubles {
    double break_off = 0;            // of a connection, at bytes that arrive
    double no_answer = 0;            // of a connection, when an answer is sent
    double late = 0;                 // bytes of a connection that the client has left still arrive
    double refused = 0;              // connections
    double slow_answer = 0;          // of a server, so that it is later by up to slowest_answer
    duration slowest = 5ms;          // way of bytes between clients and servers
    duration slowest_opening = 20ms; // of a connection
    duration slowest_answer{};
    duration slowest_peers = 2ms; // and between servers
};

// A transaction that is committed or proposed, and who waits for it.
struct log_entry {
    test::zookeeper_change change{};
    std::size_t server = 0;
    std::uint64_t connection = 0; // of that server; 0: none waits
};

// The servers of a ZooKeeper ensemble in true time, what they have committed, and who leads.
class ensemble {
public:
    ensemble(world& w, const ensemble_settings& s);
    ~ensemble();
    ensemble(const ensemble&) = delete;
    ensemble& operator=(const ensemble&) = delete;

    // Elects the first leader. What was committed before, is what the servers begin with.
    void begin();

    const ensemble_settings& settings() const noexcept { return settings_; }
    server& at(std::size_t i) noexcept { return *servers_[i]; }
    std::size_t size() const noexcept { return servers_.size(); }
    std::size_t quorum() const noexcept { return size() / 2 + 1; }

    // Faults.
    void freeze(std::size_t server, duration length);
    void isolate(std::size_t server, duration length);     // from the other servers
    void cut_clients(std::size_t server, duration length); // from its clients
    void crash(std::size_t server, duration length);       // its data stays
    void change_leader();
    // The leader is isolated. The others know it at once, but the leader does not.
    void split(duration length);
    void turn_clients_away(std::size_t server, duration length);
    std::size_t leader() const noexcept;

    // What is committed, as data and in order.
    const test::zookeeper_tree& truth() const noexcept { return truth_; }
    const std::vector<log_entry>& log() const noexcept { return log_; }
    // Told of each transaction, just after it was committed.
    std::function<void(const test::zookeeper_change&)> on_commit;

    // For reigns and servers.
    const std::shared_ptr<reign>& current() const noexcept { return current_; }
    void commit(log_entry e);
    // A server without a leader looks for one, or is elected.
    void seek(server& who);
    // That is granted if this is asked for.
    duration session_timeout(duration wanted) const;
    duration peer_delay();
    duration disk_delay();
    std::int64_t clock_ms() const;

    troubles trouble;

private:
    void elect();
    bool is_able(std::size_t server) const;

    world& world_;
    const ensemble_settings settings_;
    test::zookeeper_tree truth_;
    std::vector<log_entry> log_;
    std::vector<std::unique_ptr<server>> servers_;
    std::shared_ptr<reign> current_;
    std::int64_t epoch_ = 0;
};

} // namespace holdfast::zookeeper_simulation
