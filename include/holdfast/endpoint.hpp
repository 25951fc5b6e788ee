#pragma once

#include <holdfast/detail/export.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast {

/// The login of a client. Secret: never log it.
struct credentials {
    std::string user{};     ///< empty: the default user
    std::string password{}; ///< empty: none
};

/// The address and the credentials of one Redis node.
///
/// Converts implicitly from a URL, so a list of strings is a list of endpoints:
/// - `redis://[[user]:password@]host[:port][/db]`
/// - `rediss://…`, the same over TLS
/// - `unix:///path/to/socket`, optionally with `[user]:password@` before the path
///
/// A user needs a password. The port defaults to 6379, the database to 0. User and password may be
/// percent-encoded. An IPv6 address must be in brackets.
class endpoint {
public:
    /// How the node is reached.
    enum class transport : std::uint8_t { tcp, tls, unix_socket };

    /// Throws `std::invalid_argument`. The message names the error and never contains the password.
    HOLDFAST_EXPORT endpoint(std::string_view url);
    /// As above.
    endpoint(const std::string& url) : endpoint(std::string_view(url)) {}
    /// As above. Precondition: not null.
    endpoint(const char* url) : endpoint(std::string_view(url)) {}

    transport via() const noexcept { return via_; }            ///< from the scheme
    const std::string& host() const noexcept { return host_; } ///< empty for a unix socket
    std::uint16_t port() const noexcept { return port_; }      ///< unused by a unix socket
    const std::string& path() const noexcept { return path_; } ///< of a unix socket
    unsigned database() const noexcept { return database_; }   ///< selected by each connection
    const std::string& user() const noexcept { return user_; } ///< empty: the default user
    const std::string& password() const noexcept { return password_; } ///< secret: never log it

    /// `host:port`, `[v6]:port` or the path, with `/db` if the database is not 0. Safe to log.
    HOLDFAST_EXPORT std::string address() const;

private:
    transport via_ = transport::tcp;
    std::uint16_t port_ = 6379;
    unsigned database_ = 0;
    std::string host_, path_, user_, password_;
};

} // namespace holdfast
