#include "redis/node/first_bytes.hpp"

namespace holdfast::redis {

namespace {

constexpr std::string_view http = "HTTP/";

// The types of the TLS records that a server sends first, and the version byte that all of them
// have. Source: RFC 8446, section 5.1.
constexpr char tls_alert = 0x15, tls_handshake = 0x16, tls_version = 0x03;

} // namespace

void first_bytes::add(std::string_view arrived)
{
    static_assert(http.size() <= enough);
    if (!complete())
        bytes_ += arrived.substr(0, enough - bytes_.size());
}

std::string_view first_bytes::objection() const noexcept
{
    if (bytes_ == http)
        return "the port speaks HTTP, not the protocol of Redis";
    if (bytes_.size() > 1 && (bytes_[0] == tls_alert || bytes_[0] == tls_handshake) &&
        bytes_[1] == tls_version)
        return "the port speaks TLS, which was not asked for";
    return {};
}

} // namespace holdfast::redis
