#pragma once

#include <holdfast/tls.hpp>

#include <openssl/ssl.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace holdfast::tls_stream {

struct free_ssl {
    void operator()(SSL_CTX* all) const noexcept { SSL_CTX_free(all); }
    void operator()(SSL* one) const noexcept { SSL_free(one); }
};
using ssl_context = std::unique_ptr<SSL_CTX, free_ssl>;
using ssl_stream = std::unique_ptr<SSL, free_ssl>;

// The settings of all connections, with the certificates. Thread-safe: lockers in several threads
// may use it.
class context {
public:
    // Throws std::invalid_argument.
    explicit context(tls_options options);

    // A stream of a client for a connection to `host`. Loads files anew that have changed. Throws
    // std::bad_alloc.
    ssl_stream start(const std::string& host) const;

private:
    using times = std::vector<std::filesystem::file_time_type>;

    ssl_context load() const;
    times changed() const;

    const tls_options options_;
    mutable std::mutex mutex_;
    mutable times loaded_at_;     // when each file had changed last
    mutable times failed_at_;     // the same, when they could not be used
    mutable ssl_context present_; // SSL objects keep it alive
};

} // namespace holdfast::tls_stream
