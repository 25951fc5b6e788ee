#pragma once

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <holdfast/mysql.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

struct mariadb_options {
    std::vector<std::string> settings{}; ///< of the server, as `name=value`
    bool listens = false;                ///< on a free port of 127.0.0.1 as well
    std::string certificate{}, key{};    ///< PEM files: it speaks TLS too
};

/// A MariaDB server with an empty database `shop` of its own, in a temporary folder. It listens on
/// a unix socket in that folder. Its user `root` has no password. The destructor stops it and
/// deletes everything. It also ends with the thread that started it.
///
/// With the environment variable HOLDFAST_WITHOUT_FSYNC its commits do not wait for the disk. They
/// outlive a killed server all the same, but not a crash of the machine.
class mariadb_server {
public:
    /// Returns when the server answers. Throws `std::runtime_error` with its own messages.
    explicit mariadb_server(mariadb_options options = {});
    mariadb_server(mariadb_server&&) = delete;
    ~mariadb_server();

    /// Over the unix socket, as root.
    mysql_options login() const;
    /// Over TCP. Precondition: it listens.
    mysql_options login(const std::string& user, const std::string& password = {}) const;
    std::string socket() const { return folder_.path() + "/socket"; }
    std::uint16_t port() const noexcept { return port_; }

    /// Ends it at once, as a crash does.
    void kill();
    /// Starts it again, with the same data.
    void restart();
    /// Stops it; and lets it go on.
    void pause();
    void resume();

    /// Executes commands as root in the database `shop`. Returns the first value of the last one,
    /// or nothing. Throws `std::runtime_error` with the message of the server.
    std::string run(const std::string& commands) const;

private:
    void start();
    bool wait_until_ready();
    std::string log() const;

    const mariadb_options options_;
    temporary_folder folder_{"mariadb"};
    std::uint16_t port_ = 0;
    std::optional<child_process> process_;
};

/// A connection of a user, for transactions. Calls block.
class mariadb_session {
public:
    explicit mariadb_session(const mariadb_server& server);
    ~mariadb_session();
    mariadb_session(mariadb_session&&) = delete;

    /// The rows of the last one of some commands, as text; a row is its values with `|` between.
    /// Throws `std::runtime_error` with the number and the message of the server.
    std::vector<std::string> run(const std::string& commands);
    /// The same for bytes that need no quotes: `?` in the order of the values.
    std::vector<std::string> run(
        const std::string& statement, const std::vector<std::string>& values);
    /// Of the server.
    std::uint64_t id() const;

private:
    struct state;
    state* const state_;
};

} // namespace holdfast::test
