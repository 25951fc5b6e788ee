#pragma once

#include <holdfast/error.hpp>

#include <openssl/types.h>

namespace holdfast::tls_stream {

// Errors of TLS, with the texts of OpenSSL. Their default condition is that of errc::tls_failed.
//
// A rejected certificate: `code` is one of X509_V_ERR_….
error_code certificate_error(long code) noexcept;
// The first error in the queue of this thread, which is emptied.
error_code latest_error() noexcept;
// The peer has ended the connection during the handshake. Its default condition is another one: the
// peer may be back soon.
error_code unfinished_handshake() noexcept;

// The server has closed the connection in the way that TLS demands. Not a condition of TLS either.
error_code closed_by_server() noexcept;

} // namespace holdfast::tls_stream
