#pragma once

#include "support/child_process.hpp"
#include "support/redis_client.hpp"
#include "support/temporary_folder.hpp"

#include <holdfast/endpoint.hpp>

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

/// A real redis-server on a free loopback port, without persistence.
///
/// The destructor stops it. It also ends with the thread that started it, as every child process.
class redis_server {
public:
    /// Returns when the server answers. `arguments` are options of redis-server, such as
    /// `{"--requirepass", "secret"}`. Each of `more_ports` is an option that takes a port, such as
    /// "--tls-port": it gets a free one. Throws `std::runtime_error` with the server's own log.
    explicit redis_server(
        std::vector<std::string> arguments = {}, const std::vector<std::string>& more_ports = {});
    redis_server(redis_server&& other) noexcept;
    redis_server& operator=(redis_server&& other) noexcept;
    ~redis_server();

    std::uint16_t port() const noexcept { return port_; }
    /// The one that this option got. Precondition: it is one of `more_ports`.
    std::uint16_t port_of(const std::string& option) const { return more_ports_.at(option); }
    std::string url() const;    ///< "redis://127.0.0.1:<port>"
    pid_t pid() const noexcept; ///< -1 after `kill()`

    /// Whether the process exists; true for a paused one.
    bool running() const noexcept;

    void kill() noexcept; ///< SIGKILL, like a crash; returns when the process has ended
    void pause();         ///< SIGSTOP: connections stay open, nothing is answered
    void resume();        ///< SIGCONT

    /// Starts it again, empty, on the same port, with the arguments of the constructor and these
    /// arguments.
    void restart(std::vector<std::string> arguments = {});

    /// Sends one command and returns its reply as text: integers as digits, nil as "(nil)", errors
    /// as "(error) …", the elements of an array joined by line breaks. All commands use one
    /// connection, which is reopened after a failure, so AUTH and SELECT remain in effect. Throws
    /// `std::runtime_error` if there is no reply in time; the server may still run the command
    /// then.
    std::string command(const std::vector<std::string>& words,
        std::chrono::milliseconds timeout = std::chrono::seconds(5));

private:
    bool start(const std::vector<std::string>& arguments);
    bool ready();
    std::string log() const;

    std::vector<std::string> arguments_;
    temporary_folder folder_{"redis"};
    std::uint16_t port_ = 0;
    std::map<std::string, std::uint16_t> more_ports_;
    std::optional<child_process> process_;
    redis_client client_;
};

std::vector<redis_server> start_servers(
    std::size_t count, const std::vector<std::string>& arguments = {});

/// Below the range for outgoing connections. Another process may take it at any time.
std::uint16_t free_port();

std::vector<std::string> urls(const std::vector<redis_server>& servers);
std::vector<endpoint> endpoints(const std::vector<redis_server>& servers);

} // namespace holdfast::test
