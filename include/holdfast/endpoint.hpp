#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast {

/// Where one Redis node is, and how to log in to it.
///
/// Made from a URL, implicitly, so that a list of strings is a list of endpoints:
/// - `redis://[user[:password]@]host[:port][/db]`; also `redis://:password@host`
/// - `rediss://…`, the same over TLS
/// - `unix:///path/to/socket`, with `[user[:password]@]` before the path if need be
///
/// The port defaults to 6379, the database to 0. User and password may be percent-encoded. An IPv6
/// address stands in brackets.
class endpoint {
public:
    enum class transport : std::uint8_t { tcp, tls, unix_socket };

    /// Throws `std::invalid_argument` that names what is wrong, never with the password.
    endpoint(std::string_view url);
    endpoint(const std::string& url) : endpoint(std::string_view(url)) {}
    endpoint(const char* url) : endpoint(std::string_view(url)) {}

    transport via() const noexcept { return via_; }
    const std::string& host() const noexcept { return host_; } ///< empty for a unix socket
    std::uint16_t port() const noexcept { return port_; }
    const std::string& path() const noexcept { return path_; } ///< of a unix socket
    unsigned database() const noexcept { return database_; }
    const std::string& user() const noexcept { return user_; }         ///< empty: the default user
    const std::string& password() const noexcept { return password_; } ///< a secret; never log it

    /// `host:port`, `[v6]:port` or the path, with `/db` if it is not 0: safe to log.
    std::string address() const;

private:
    transport via_ = transport::tcp;
    std::uint16_t port_ = 6379;
    unsigned database_ = 0;
    std::string host_, path_, user_, password_;
};

} // namespace holdfast
