#pragma once

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

class postgres_server;

struct postgres_options {
    std::vector<std::string> settings{}; ///< of the server, as `name=value`
    bool listens = false;                ///< on a free port of 127.0.0.1 as well
    std::string auth = "trust";          ///< of all connections but those of the user `shop`
    std::string certificate{}, key{};    ///< PEM files: it speaks TLS too
    /// It begins as a standby of this server, with a copy of its data, and follows it. Outlives it.
    const postgres_server* primary = nullptr;
};

/// A PostgreSQL server with an empty database of its own, in a temporary folder. It listens on a
/// unix socket in that folder. The destructor stops it and deletes everything.
///
/// With the environment variable HOLDFAST_WITHOUT_FSYNC its commits do not wait for the disk. They
/// outlive a killed server all the same, but not a crash of the machine.
///
/// PostgreSQL refuses to run as root; then it runs as the user `postgres`, which Debian's package
/// makes. It also ends with the thread that started it.
class postgres_server {
public:
    /// Returns when the server answers. Throws `std::runtime_error` with its own messages.
    explicit postgres_server(postgres_options options = {});
    postgres_server(postgres_server&&) = delete;
    ~postgres_server();

    /// Whether the programs of a server are installed.
    static bool is_installed();

    /// Where its unix socket is, as a part of connection strings.
    std::string address() const;
    /// The connection string for libpq, over the unix socket.
    std::string where() const;
    /// The same as a URI over TCP. Precondition: it listens.
    std::string uri(const std::string& user = "shop") const;
    std::uint16_t port() const noexcept { return port_; }

    /// Ends it at once, as a crash does. With `by_signal` its processes get SIGKILL. Returns when
    /// they have ended.
    void kill(bool by_signal = true);
    /// Starts it again, with the same data.
    void restart();
    /// Stops all its processes; and lets them go on.
    void pause();
    void resume();

    /// Executes commands as its superuser. Returns the first value of the last one, or nothing.
    /// Throws `std::runtime_error` with the message of the server.
    std::string run(const std::string& commands) const;

private:
    void make_data();
    void copy_data(const postgres_server& primary);
    void copy_secret(const std::string& from, const std::string& name);
    void start();
    bool wait_until_ready();
    std::vector<int> processes() const;
    std::string log() const;

    const postgres_options options_;
    temporary_folder folder_{"postgres"};
    std::uint16_t port_ = 5432;
    std::optional<child_process> process_;
    std::vector<int> paused_;
    std::optional<child_process> waker_; // of the paused ones, if this process dies
};

/// A connection of its superuser, for transactions. Calls block.
class postgres_session {
public:
    /// Throws `std::runtime_error` if there is no connection.
    explicit postgres_session(const postgres_server& server);
    ~postgres_session();
    postgres_session(postgres_session&&) = delete;

    /// The rows of the last one of some commands, as text; a row is its values with `|` between.
    /// Throws `std::runtime_error` with the message of the server.
    std::vector<std::string> run(const std::string& commands);
    /// The same for one statement: `$1` is the first value.
    std::vector<std::string> run(
        const std::string& statement, const std::vector<std::string>& values);

private:
    struct state;
    state* const state_;
};

} // namespace holdfast::test
