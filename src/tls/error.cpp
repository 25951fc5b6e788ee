#include "tls/error.hpp"

#include <boost/system/error_category.hpp>

#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509_vfy.h>

#include <string>

namespace holdfast::tls_stream {

namespace {

// Values below 0 are those of X509_V_ERR_…, negated. Those above 2 are OpenSSL's packed errors.
constexpr int unfinished = 1, closed = 2;

class category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "holdfast.tls"; }

    std::string message(int value) const override
    {
        if (value < 0)
            return X509_verify_cert_error_string(-value);
        if (value == unfinished)
            return "the connection ended during the TLS handshake; does the port speak TLS?";
        if (value == closed)
            return "the server has closed the connection";
        const auto packed = static_cast<unsigned long>(value);
        const char* const reason = ERR_reason_error_string(packed);
        const std::string text = reason == nullptr ? "unknown error of TLS" : reason;
        switch (ERR_GET_REASON(packed)) {
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_PACKET_LENGTH_TOO_LONG:
        case SSL_R_HTTP_REQUEST:
            return "the port does not speak TLS (" + text + ")";
        default:
            return text;
        }
    }

    boost::system::error_condition default_error_condition(int value) const noexcept override
    {
        if (value == unfinished || value == closed)
            return make_error_condition(boost::system::errc::connection_aborted);
        return make_error_code(errc::tls_failed).default_error_condition();
    }
};

error_code error_of(int value) noexcept
{
    static const category instance;
    return {value, instance};
}

} // namespace

error_code certificate_error(long code) noexcept
{
    return error_of(-static_cast<int>(code));
}

error_code latest_error() noexcept
{
    const unsigned long packed = ERR_get_error();
    ERR_clear_error();
    constexpr unsigned long all = 0x7fffffff; // without the flag of system errors
    return (packed & all) == 0 ? unfinished_handshake() : error_of(static_cast<int>(packed & all));
}

error_code unfinished_handshake() noexcept
{
    return error_of(unfinished);
}

error_code closed_by_server() noexcept
{
    return error_of(closed);
}

} // namespace holdfast::tls_stream
