#pragma once

#include "support/child_process.hpp"
#include "support/redis_client.hpp"
#include "support/temporary_folder.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

/// A real Redis sentinel on a free loopback port.
///
/// The destructor stops it. It also ends with the thread that started it, as every child process.
class redis_sentinel_server {
public:
    /// Returns when it answers. `lines`: of its configuration, such as "sentinel monitor …". If one
    /// of them begins with "tls-", it also listens on a port for TLS.
    explicit redis_sentinel_server(const std::vector<std::string>& lines);

    std::uint16_t port() const noexcept { return port_; }
    std::string url() const;     ///< "redis://127.0.0.1:<port>"
    std::string tls_url() const; ///< "rediss://127.0.0.1:<port for TLS>"

    void pause() { process_.value().pause(); }   ///< SIGSTOP
    void resume() { process_.value().resume(); } ///< SIGCONT
    void kill() noexcept;                        ///< SIGKILL

    /// As `redis_server::command()`.
    std::string command(const std::vector<std::string>& arguments,
        std::chrono::milliseconds timeout = std::chrono::seconds(5));

private:
    bool start(const std::vector<std::string>& lines);
    std::string log() const;

    temporary_folder folder_{"sentinel"};
    std::uint16_t port_ = 0, tls_port_ = 0;
    std::optional<child_process> process_;
    redis_client client_;
};

} // namespace holdfast::test
