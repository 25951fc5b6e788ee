#pragma once

#include "support/redis_client.hpp"

#include <holdfast/endpoint.hpp>

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::test {

/// A real redis-server on a loopback port of its own, without persistence.
///
/// It is taken down by the destructor, and dies with the thread that started it in any case (the
/// kernel ties it to that thread, not to the process): start servers on a thread that lives as long
/// as they are needed, such as the main thread.
class redis_server {
public:
    /// Returns when the server answers. `arguments` are options of redis-server, such as
    /// `{"--requirepass", "secret"}`. Throws `std::runtime_error` with the server's own log.
    explicit redis_server(std::vector<std::string> arguments = {});
    redis_server(redis_server&& other) noexcept;
    redis_server& operator=(redis_server&& other) noexcept;
    ~redis_server();

    std::uint16_t port() const noexcept { return port_; }
    std::string url() const;                    ///< "redis://127.0.0.1:<port>"
    pid_t pid() const noexcept { return pid_; } ///< -1 after `kill()`

    /// Whether the process exists; true for a paused one.
    bool running() const noexcept;

    void kill() noexcept; ///< at once, as a crash would (SIGKILL); returns when it is gone
    void pause();         ///< SIGSTOP: connections stay open, nothing is answered
    void resume();        ///< SIGCONT

    /// Starts it again, empty, on the same port, with the arguments of the constructor and these.
    void restart(std::vector<std::string> arguments = {});

    /// Sends one command and returns its reply as text: integers as digits, nil as "(nil)", errors
    /// as "(error) …", the elements of an array joined by line breaks. All commands use one
    /// connection, made anew after a failure, so AUTH and SELECT last. Throws `std::runtime_error`
    /// without a reply in time; the server may then still run the command.
    std::string command(const std::vector<std::string>& words,
        std::chrono::milliseconds timeout = std::chrono::seconds(5));

private:
    bool start(const std::vector<std::string>& arguments);
    bool ready();
    void remove() noexcept;
    std::string log() const;

    std::vector<std::string> arguments_;
    std::string directory_;
    std::uint16_t port_ = 0;
    pid_t pid_ = -1;
    redis_client client_;
};

std::vector<redis_server> start_servers(
    std::size_t count, const std::vector<std::string>& arguments = {});

std::vector<std::string> urls(const std::vector<redis_server>& servers);
std::vector<endpoint> endpoints(const std::vector<redis_server>& servers);

} // namespace holdfast::test
