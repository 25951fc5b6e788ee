#include "support/certificates.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace holdfast::test {
namespace {

struct release {
    void operator()(EVP_PKEY* p) const noexcept { EVP_PKEY_free(p); }
    void operator()(X509* p) const noexcept { X509_free(p); }
    void operator()(X509_EXTENSION* p) const noexcept { X509_EXTENSION_free(p); }
    void operator()(std::FILE* p) const noexcept { std::fclose(p); }
};
template <class T>
using owned = std::unique_ptr<T, release>;

template <class T>
T* require(T* made)
{
    if (made == nullptr)
        throw std::runtime_error("certificates: OpenSSL failed");
    return made;
}

owned<std::FILE> open(const std::string& path, const char* mode)
{
    return owned<std::FILE>(require(std::fopen(path.c_str(), mode)));
}

void extend(X509* certificate, int kind, const std::string& value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    const owned<X509_EXTENSION> made(
        require(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str())));
    X509_add_ext(certificate, made.get(), -1);
}

long next_serial()
{
    static long last = 0;
    return ++last;
}

// `issuer` null: signed by itself, as an authority.
void write(const certificates::pair& to, const std::string& name, const std::string& names,
    long last_day, const certificates::pair* issuer)
{
    const owned<EVP_PKEY> key(require(EVP_EC_gen("P-256")));
    const owned<X509> made(require(X509_new()));
    X509* const x = made.get();
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), next_serial());
    constexpr long day = 24L * 3600;
    X509_gmtime_adj(X509_getm_notBefore(x), std::min(-day, (last_day - 2) * day));
    X509_gmtime_adj(X509_getm_notAfter(x), last_day * day);
    X509_set_pubkey(x, key.get());
    const auto* const text = reinterpret_cast<const unsigned char*>(name.c_str());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, text, -1, -1, 0);

    owned<EVP_PKEY> signer;
    if (issuer == nullptr) {
        X509_set_issuer_name(x, X509_get_subject_name(x));
        extend(x, NID_basic_constraints, "critical,CA:TRUE");
    } else {
        const owned<X509> above(require(
            PEM_read_X509(open(issuer->certificate, "r").get(), nullptr, nullptr, nullptr)));
        X509_set_issuer_name(x, X509_get_subject_name(above.get()));
        signer.reset(
            require(PEM_read_PrivateKey(open(issuer->key, "r").get(), nullptr, nullptr, nullptr)));
        extend(x, NID_subject_alt_name, names);
    }
    X509_sign(x, signer ? signer.get() : key.get(), EVP_sha256());
    PEM_write_X509(open(to.certificate, "w").get(), x);
    PEM_write_PrivateKey(open(to.key, "w").get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
}

} // namespace

certificates::certificates()
    : authority_{folder_.path() + "/authority.crt", folder_.path() + "/authority.key"}
{
    write(authority_, "authority of tests", {}, 1, nullptr);
}

certificates::pair certificates::issue(
    std::string_view name, const std::string& names, long last_day)
{
    const std::string path = folder_.path() + "/" + std::string(name);
    pair made{path + ".crt", path + ".key"};
    write(made, std::string(name), names, last_day, &authority_);
    return made;
}

} // namespace holdfast::test
