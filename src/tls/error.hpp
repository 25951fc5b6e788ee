#pragma once

#include <holdfast/error.hpp>

#include <openssl/types.h>

namespace holdfast::tls_stream {

// Errors of TLS, with the texts of OpenSSL. Those that only a change of settings can remove have
// the default condition of errc::tls_failed; the others may be over soon.
//
// A rejected certificate: `code` is one of X509_V_ERR_….
error_code certificate_error(long code) noexcept;
// The first error in the queue of this thread, which is emptied. `established`: the handshake had
// succeeded, so only the refusal of our certificate is a matter of settings.
error_code latest_error(bool established) noexcept;
// The peer has ended the connection during the handshake.
error_code unfinished_handshake() noexcept;
// The server has closed the connection in the way that TLS demands.
error_code closed_by_server() noexcept;

} // namespace holdfast::tls_stream
