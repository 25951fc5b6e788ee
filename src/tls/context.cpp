#include "tls/context.hpp"

#include "tls/error.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace holdfast::tls_stream {

namespace {

[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("holdfast: tls: " + what);
}

// The most that OpenSSL sends to the server.
constexpr std::size_t longest_name = 255;

// `done`: the result of an OpenSSL call.
void require(int done, const std::string& what)
{
    if (done != 1)
        reject(what + ": " + latest_error(false).message());
}

// The protocols in the form that the handshake has them.
std::string encoded(const std::vector<std::string>& protocols)
{
    std::string all;
    for (const std::string& each : protocols) {
        if (each.empty() || each.size() > 255)
            reject("an ALPN protocol must have 1 to 255 bytes");
        all += static_cast<char>(each.size());
        all += each;
    }
    return all;
}

// SSL_set_tlsext_host_name(), a macro with a cast of C.
bool send_name(SSL* stream, const std::string& name)
{
    if (name.size() > longest_name)
        return true; // the server chooses a certificate, which is verified as usual
    auto* const text = const_cast<char*>(name.c_str()); // is copied
    return SSL_ctrl(stream, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, text) == 1;
}

} // namespace

context::context(tls_options options) : options_(std::move(options)), loaded_at_(changed())
{
    if (options_.certificate_file.empty() != options_.key_file.empty())
        reject("certificate_file and key_file must be given together");
    if (options_.server_name.size() > longest_name ||
        options_.server_name.find('\0') != std::string::npos || options_.server_name == ".")
        reject("server_name must have at most 255 bytes and no zero byte, and not be \".\"");
    present_ = load();
}

ssl_context context::load() const
{
    ERR_clear_error();
    ssl_context made(SSL_CTX_new(TLS_client_method()));
    if (!made)
        throw std::bad_alloc();
    SSL_CTX* const all = made.get();
    SSL_CTX_set_min_proto_version(all, TLS1_2_VERSION);
    SSL_CTX_set_options(all, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_verify(
        all, options_.accept_any_certificate ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
    if (options_.ca_file.empty())
        require(SSL_CTX_set_default_verify_paths(all), "the system's certificates");
    else
        require(
            SSL_CTX_load_verify_file(all, options_.ca_file.c_str()), "ca_file " + options_.ca_file);
    if (!options_.certificate_file.empty()) {
        require(SSL_CTX_use_certificate_chain_file(all, options_.certificate_file.c_str()),
            "certificate_file " + options_.certificate_file);
        // An encrypted key is refused, instead of a question for its password on the terminal.
        SSL_CTX_set_default_passwd_cb(all, [](char*, int, int, void*) { return 0; });
        require(SSL_CTX_use_PrivateKey_file(all, options_.key_file.c_str(), SSL_FILETYPE_PEM),
            "key_file " + options_.key_file);
        require(SSL_CTX_check_private_key(all), "key_file " + options_.key_file +
                                                    " does not belong to certificate_file " +
                                                    options_.certificate_file);
    }
    if (const std::string protocols = encoded(options_.alpn); !protocols.empty()) {
        const auto* const bytes = reinterpret_cast<const unsigned char*>(protocols.data());
        if (SSL_CTX_set_alpn_protos(all, bytes, static_cast<unsigned>(protocols.size())) != 0)
            throw std::bad_alloc();
    }
    return made;
}

context::times context::changed() const
{
    times all;
    for (const std::string* const each :
        {&options_.ca_file, &options_.certificate_file, &options_.key_file}) {
        std::error_code none; // a file that is missing has a time, too: the earliest
        all.push_back(std::filesystem::last_write_time(*each, none));
    }
    return all;
}

ssl_stream context::start(const std::string& host) const
{
    const std::lock_guard lock(mutex_);
    if (times now = changed(); now != loaded_at_ && now != failed_at_) {
        try {
            present_ = load();
            loaded_at_ = std::move(now);
        } catch (const std::invalid_argument&) {
            // Perhaps only one of the files has been replaced yet. The next change is tried again.
            failed_at_ = std::move(now);
        }
    }
    ERR_clear_error();
    ssl_stream made(SSL_new(present_.get()));
    if (!made)
        throw std::bad_alloc();
    SSL* const one = made.get();
    std::string name = options_.server_name.empty() ? host : options_.server_name;
    if (name.size() > 1 && name.ends_with('.')) // certificates have names without the final dot
        name.pop_back();
    X509_VERIFY_PARAM* const checks = SSL_get0_param(one);
    X509_VERIFY_PARAM_set_hostflags(checks, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_ip_asc(checks, name.c_str()) != 1 &&
        (SSL_set1_host(one, name.c_str()) != 1 || !send_name(one, name)))
        throw std::bad_alloc();
    SSL_set_connect_state(one);
    ERR_clear_error();
    return made;
}

} // namespace holdfast::tls_stream
