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

// Whether an alert refuses our certificate.
bool refuses_client(int reason) noexcept
{
    switch (reason) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
        return true;
    default:
        return false;
    }
}

// Whether a failure of the handshake may be over soon.
bool is_temporary(int reason) noexcept
{
    return reason == SSL_R_TLSV1_ALERT_INTERNAL_ERROR ||
           reason == SSL_R_TLSV1_ALERT_USER_CANCELLED || reason == ERR_R_MALLOC_FAILURE;
}

class category final : public boost::system::error_category {
public:
    explicit category(bool lasting) noexcept : lasting_(lasting) {}

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

    boost::system::error_condition default_error_condition(int) const noexcept override
    {
        if (!lasting_)
            return make_error_condition(boost::system::errc::connection_aborted);
        return make_error_code(errc::tls_failed).default_error_condition();
    }

private:
    const bool lasting_;
};

error_code error_of(int value, bool lasting) noexcept
{
    static const category failed(true), broken(false);
    return {value, lasting ? failed : broken};
}

} // namespace

error_code certificate_error(long code) noexcept
{
    return error_of(-static_cast<int>(code), true);
}

error_code latest_error(bool established) noexcept
{
    const unsigned long packed = ERR_get_error();
    ERR_clear_error();
    if (packed == 0)
        return unfinished_handshake();
    const int reason = ERR_GET_REASON(packed);
    if (ERR_SYSTEM_ERROR(packed))
        return {reason, boost::system::system_category()};
    const bool lasting = established ? refuses_client(reason) : !is_temporary(reason);
    return error_of(static_cast<int>(packed), lasting);
}

error_code unfinished_handshake() noexcept
{
    return error_of(unfinished, false);
}

error_code closed_by_server() noexcept
{
    return error_of(closed, false);
}

} // namespace holdfast::tls_stream
