#include "tls/layer.hpp"

#include "tls/error.hpp"

#include <boost/system/errc.hpp>

#include <openssl/bio.h>
#include <openssl/err.h>

#include <algorithm>
#include <new>
#include <span>
#include <string_view>
#include <utility>

namespace holdfast::tls_stream {

namespace {

// One record: the peer can read it only when all of it has arrived. So a request is never executed
// before it is reported as written.
constexpr std::size_t most_at_once = SSL3_RT_MAX_PLAIN_LENGTH;

// More is not sent because the peer reads nothing.
constexpr std::size_t most_unsent = 256 * 1024;

} // namespace

layer::layer(core::connection& inner, std::shared_ptr<const context> shared, std::string host)
    : inner_(inner),
      context_(std::move(shared)),
      host_(std::move(host))
{}

void layer::opened(core::time_point now)
{
    ssl_ = context_->start(host_.empty() ? inner_.target().host : host_);
    BIO* const in = BIO_new(BIO_s_mem());
    BIO* const out = BIO_new(BIO_s_mem());
    if (in == nullptr || out == nullptr) {
        BIO_free(in);
        BIO_free(out);
        throw std::bad_alloc();
    }
    SSL_set_bio(ssl_.get(), in, out); // takes both
    shake_hands(now);
}

void layer::closed(error_code why, core::time_point now)
{
    const bool ended = why != boost::system::errc::operation_canceled; // not by us
    if (error_)
        why = error_;
    else if (ssl_ && !established_ && ended)
        why = unfinished_handshake();
    error_.clear();
    ssl_.reset();
    established_ = false;
    out_.clear();
    out_begin_ = taken_ = taken_end_ = 0;
    needs_input_ = false;
    inner_.closed(why, now);
}

void layer::received(std::size_t n, core::time_point now)
{
    if (error_)
        return;
    needs_input_ = false;
    if (BIO_write(SSL_get_rbio(ssl_.get()), arrived_.data(), static_cast<int>(n)) !=
        static_cast<int>(n))
        throw std::bad_alloc();
    if (established_ || shake_hands(now))
        read(now);
    collect();
    if (out_.size() - out_begin_ > most_unsent)
        error_ = closed_by_server(); // it makes us answer, and reads nothing
}

// Whether the handshake has succeeded.
bool layer::shake_hands(core::time_point now)
{
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    if (result != 1 && SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_READ)
        fail();
    collect();
    if (result != 1)
        return false;
    established_ = true;
    if (inner_.wants_open())
        inner_.opened(now);
    return true;
}

void layer::read(core::time_point now)
{
    while (inner_.wants_open()) {
        const std::span<char> space = inner_.read_space();
        std::size_t n = 0;
        ERR_clear_error();
        const int result = SSL_read_ex(ssl_.get(), space.data(), space.size(), &n);
        if (result == 1) {
            inner_.received(n, now);
            continue;
        }
        switch (SSL_get_error(ssl_.get(), result)) {
        case SSL_ERROR_WANT_READ:
            return;
        case SSL_ERROR_ZERO_RETURN:
            error_ = closed_by_server();
            return;
        default:
            return fail();
        }
    }
}

// The reason is the rejected certificate, if there is one, or what OpenSSL says.
void layer::fail()
{
    const long verified = SSL_get_verify_result(ssl_.get());
    const bool checked = SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE;
    error_ = !established_ && checked && verified != X509_V_OK ? certificate_error(verified)
                                                               : latest_error(established_);
}

// Takes what OpenSSL has to send.
void layer::collect()
{
    BIO* const out = SSL_get_wbio(ssl_.get());
    const std::size_t n = BIO_ctrl_pending(out);
    const std::size_t before = out_.size();
    out_.resize(before + n);
    if (n != 0)
        BIO_read(out, out_.data() + before, static_cast<int>(n));
}

std::size_t layer::unsent() const noexcept
{
    const bool may_take = established_ && !error_ && !needs_input_ && inner_.wants_open();
    return out_.size() - out_begin_ + (may_take ? inner_.unsent() - taken_ : 0);
}

void layer::prepare_output()
{
    if (!established_ || error_ || needs_input_ || taken_ != 0 || !inner_.wants_open())
        return;
    inner_.prepare_output();
    const std::string_view plain = inner_.output().substr(0, most_at_once);
    if (plain.empty())
        return;
    ERR_clear_error();
    if (SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &taken_) != 1) {
        taken_ = 0;
        // It has read a part of another message, and goes on when the rest has arrived.
        if (SSL_get_error(ssl_.get(), 0) == SSL_ERROR_WANT_READ)
            needs_input_ = true;
        else
            fail();
    }
    collect();
    taken_end_ = out_.size();
}

std::string_view layer::output() const noexcept
{
    return std::string_view(out_).substr(out_begin_);
}

void layer::written(std::size_t n, core::time_point now)
{
    out_begin_ += n;
    if (taken_ != 0 && out_begin_ >= taken_end_) {
        const std::size_t all = std::exchange(taken_, 0);
        if (inner_.wants_open()) // else it has forgotten its output
            inner_.written(all, now);
    }
    if (out_begin_ == out_.size()) {
        out_.clear();
        out_begin_ = taken_end_ = 0;
    }
}

} // namespace holdfast::tls_stream
