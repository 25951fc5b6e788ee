#pragma once

#include <holdfast/detail/export.hpp>
#include <holdfast/stream_layer.hpp>

#include <string>
#include <vector>

namespace holdfast {

/// Settings of TLS. Checked by `tls()`.
struct tls_options {
    /// The certificates of the authorities that may sign a server's certificate: a PEM file. Empty:
    /// those of the system.
    std::string ca_file{};

    /// The client's certificate chain and its private key: PEM files. Both or none. The key must
    /// not be encrypted.
    std::string certificate_file{};
    /// As above.
    std::string key_file{};

    /// The name that the server's certificate must have, and that is sent to the server (SNI).
    /// Empty: the host of the endpoint, which may be an IP address. An IP address must be in the
    /// certificate as such, and is not sent.
    std::string server_name{};

    /// The application protocols to offer (ALPN), the preferred one first. Redis needs none. Each
    /// has 1 to 255 bytes.
    std::vector<std::string> alpn{};

    /// Accepts any certificate of any server. Anyone on the network can then read and change all
    /// traffic. For tests only.
    bool accept_any_certificate = false;
};

/// TLS 1.2 or newer by OpenSSL, for the option `tls` of Redis nodes, etcd and ZooKeeper. Link
/// `holdfast::tls`.
///
/// The server's certificate and its name are verified. A failure is `errc::tls_failed`, and
/// `locker::stats()` has the reason. There is no fall-back to plain text. No compression, no
/// renegotiation.
///
/// The files are read by this function, and again before a connection is opened if one of them has
/// changed since. If the new files cannot be used, connections keep the old ones.
///
/// Throws `std::invalid_argument` if a file cannot be used, and names it.
HOLDFAST_EXPORT stream_layer tls(const tls_options& options = {});

} // namespace holdfast
