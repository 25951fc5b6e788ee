#pragma once

#include "support/certificates.hpp"
#include "support/redis_server.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace holdfast::test {

/// Lets a server also listen on a free port for TLS, with this certificate. Returns the port.
inline std::uint16_t open_tls_port(redis_server& server, const certificates& signers,
    const certificates::pair& own, bool ask_clients = false)
{
    unsigned port = server.port();
    std::string said;
    for (int tries = 0; tries < 100; ++tries) {
        port = port < 32'000 ? port + 1 : 10'000;
        said = server.command({"CONFIG", "SET", "tls-cert-file", own.certificate, "tls-key-file",
            own.key, "tls-ca-cert-file", signers.authority(), "tls-auth-clients",
            ask_clients ? "yes" : "no", "tls-port", std::to_string(port)});
        if (said == "OK")
            return static_cast<std::uint16_t>(port);
    }
    throw std::runtime_error("no port for TLS: " + said);
}

} // namespace holdfast::test
