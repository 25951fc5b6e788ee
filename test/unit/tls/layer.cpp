// The layer of TLS without sockets, against a server of OpenSSL over buffers in memory.
#include "core/connection.hpp"
#include "core/stream_layer.hpp"
#include "support/certificates.hpp"

#include <holdfast/tls.hpp>

#include <boost/test/unit_test.hpp>

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::test {
namespace {

constexpr core::time_point at{};

// The inner connection: records what it is told.
class recorder final : public core::connection {
public:
    const core::address& target() const noexcept override { return target_; }
    bool wants_open() const noexcept override { return wanted; }
    void opened(core::time_point) override { ++opens; }
    void closed(error_code why, core::time_point) override { reason = why; }
    std::span<char> read_space() override { return space_; }
    void received(std::size_t n, core::time_point) override { input.append(space_.data(), n); }
    std::string_view output() const noexcept override { return waiting; }
    void written(std::size_t n, core::time_point) override
    {
        waiting.erase(0, n);
        sent += n;
    }

    bool wanted = true;
    int opens = 0;
    std::string input, waiting;
    std::size_t sent = 0;
    error_code reason;

    void move_to(const std::string& host) { target_.host = host; }

private:
    core::address target_{.host = "node.example", .port = 1, .path = {}};
    std::array<char, 7> space_{}; // small: one record fills it many times
};

struct release_server {
    void operator()(SSL_CTX* p) const noexcept { SSL_CTX_free(p); }
    void operator()(SSL* p) const noexcept { SSL_free(p); }
};

class tls_server {
public:
    explicit tls_server(const certificates::pair& own) : context_(SSL_CTX_new(TLS_server_method()))
    {
        SSL_CTX_use_certificate_file(context_.get(), own.certificate.c_str(), SSL_FILETYPE_PEM);
        SSL_CTX_use_PrivateKey_file(context_.get(), own.key.c_str(), SSL_FILETYPE_PEM);
        ssl_.reset(SSL_new(context_.get()));
        SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        SSL_set_accept_state(ssl_.get());
    }

    // Takes bytes of the client, and goes on as far as possible.
    void take(std::string_view bytes)
    {
        BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
        char plain[4096];
        for (int n = 0; (n = SSL_read(ssl_.get(), plain, sizeof plain)) > 0;)
            input.append(plain, static_cast<std::size_t>(n));
    }
    void send(std::string_view plain)
    {
        SSL_write(ssl_.get(), plain.data(), static_cast<int>(plain.size()));
    }
    void end() { SSL_shutdown(ssl_.get()); }
    // What it has to send, up to `most` bytes.
    std::string output(std::size_t most)
    {
        std::string bytes(std::min(most, BIO_ctrl_pending(SSL_get_wbio(ssl_.get()))), '\0');
        if (!bytes.empty())
            BIO_read(SSL_get_wbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
        return bytes;
    }

    std::string input;

private:
    std::unique_ptr<SSL_CTX, release_server> context_;
    std::unique_ptr<SSL, release_server> ssl_;
};

struct layer_fixture {
    layer_fixture() { layer->opened(at); }

    // One piece in each direction. False if there was nothing to pass on.
    bool exchange(std::size_t most)
    {
        layer->prepare_output();
        const std::string out(layer->output().substr(0, most));
        if (!out.empty()) {
            layer->written(out.size(), at);
            server.take(out);
        }
        const std::string in = server.output(std::min(most, layer->read_space().size()));
        std::copy(in.begin(), in.end(), layer->read_space().begin());
        if (!in.empty())
            layer->received(in.size(), at);
        return !out.empty() || !in.empty();
    }
    void exchange_all(std::size_t most)
    {
        while (exchange(most)) {
        }
    }

    certificates signers;
    tls_server server{signers.issue("node", "DNS:node.example")};
    recorder inner;
    stream_layer made = tls({.ca_file = signers.authority()});
    std::unique_ptr<core::connection> layer = made.factory()->wrap(inner, "node.example");
};

BOOST_FIXTURE_TEST_SUITE(tls_layer, layer_fixture)

// A layer without a host of its own expects that of the target, which may have another one for each
// connection.
BOOST_AUTO_TEST_CASE(the_host_of_the_target)
{
    layer = made.factory()->wrap(inner, "");
    layer->opened(at);
    exchange_all(1000);
    BOOST_TEST(inner.opens == 1);
    layer->closed({}, at);
    inner.move_to("elsewhere.example");
    server = tls_server(signers.issue("again", "DNS:node.example"));
    layer->opened(at);
    exchange_all(1000);
    BOOST_TEST(inner.opens == 1);
    layer->closed({}, at);
    BOOST_TEST(
        inner.reason.message().find("mismatch") != std::string::npos, inner.reason.message());
}

BOOST_AUTO_TEST_CASE(bytes_may_come_and_go_in_pieces_of_any_size)
{
    for (const std::size_t most : {1u, 3u, 100u, 100'000u}) {
        layer_fixture f;
        BOOST_TEST(f.layer->unsent() > 0u); // the first message of the handshake
        f.exchange_all(most);
        BOOST_TEST(f.inner.opens == 1);
        const std::string request(300, 'q'), answer(5'000, 'a');
        f.inner.waiting = request;
        BOOST_TEST(f.layer->unsent() == request.size());
        f.server.send(answer);
        f.exchange_all(most);
        BOOST_TEST((f.server.input == request));
        BOOST_TEST((f.inner.input == answer));
        BOOST_TEST(f.inner.sent == request.size());
        BOOST_TEST(f.layer->unsent() == 0u);
    }
}

// The time of a request counts from when its last byte is sent, not from when it is encrypted.
BOOST_AUTO_TEST_CASE(bytes_are_reported_as_written_when_all_of_their_record_is)
{
    exchange_all(1000);
    inner.waiting = "request";
    layer->prepare_output();
    const std::size_t size = layer->output().size();
    BOOST_TEST(size > inner.waiting.size());
    layer->written(size - 1, at);
    BOOST_TEST(inner.sent == 0u);
    BOOST_TEST(layer->unsent() == 1u);
    layer->written(1, at);
    BOOST_TEST(inner.sent == 7u);
    BOOST_TEST(layer->unsent() == 0u);
}

// The peer can read the first record before the others are sent. So its bytes count as written at
// once: a lease must not count from a later time.
BOOST_AUTO_TEST_CASE(each_record_is_reported_as_written_alone)
{
    exchange_all(1000);
    inner.waiting = std::string(40'000, 'x');
    while (inner.sent < 40'000u) {
        layer->prepare_output();
        const std::string next(layer->output());
        const std::string all_but_one = next.substr(0, next.size() - 1);
        const std::size_t before = inner.sent;
        layer->written(all_but_one.size(), at);
        server.take(all_but_one);
        BOOST_TEST(inner.sent == before);
        BOOST_TEST(server.input.size() == before);
        layer->written(1, at);
        server.take(next.substr(next.size() - 1));
        BOOST_TEST(inner.sent == server.input.size());
    }
}

// The inner connection forgets its output when it gives up, while a record of it is under way.
BOOST_AUTO_TEST_CASE(a_record_that_is_sent_after_its_connection_was_given_up)
{
    exchange_all(1000);
    inner.waiting = "request";
    layer->prepare_output();
    const std::size_t size = layer->output().size();
    layer->written(size - 1, at);
    inner.waiting.clear();
    inner.wanted = false;
    BOOST_TEST(layer->unsent() == 1u);
    layer->written(1, at);
    layer->prepare_output();
    BOOST_TEST(layer->output().empty());
    BOOST_TEST(inner.sent == 0u);
    BOOST_TEST(layer->unsent() == 0u);
}

// What gathers while a record is under way is sent in the next one. More than one record holds is
// sent in several.
BOOST_AUTO_TEST_CASE(bytes_that_come_later_follow_in_order)
{
    exchange_all(1000);
    inner.waiting = "first ";
    layer->prepare_output();
    inner.waiting += std::string(200'000, 'x');
    exchange_all(10'000);
    BOOST_TEST((server.input == "first " + std::string(200'000, 'x')));
    BOOST_TEST(inner.waiting.empty());
}

BOOST_AUTO_TEST_CASE(the_end_of_a_connection_is_reported_with_its_reason)
{
    layer->closed(make_error_code(boost::system::errc::connection_reset), at);
    BOOST_TEST(inner.reason.message().find("does the port speak TLS?") != std::string::npos);
    BOOST_TEST(inner.opens == 0);

    layer_fixture later;
    later.exchange_all(1000);
    later.server.end();
    later.exchange_all(1000);
    BOOST_TEST(!later.layer->wants_open());
    later.layer->closed(make_error_code(boost::system::errc::operation_canceled), at);
    BOOST_TEST(later.inner.reason.message() == "the server has closed the connection");
    BOOST_TEST(later.layer->wants_open()); // as the inner connection does
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_opened_again_begins_anew)
{
    exchange_all(1000);
    layer->closed(make_error_code(boost::system::errc::connection_reset), at);
    BOOST_TEST(inner.reason == boost::system::errc::connection_reset);
    layer->opened(at);
    BOOST_TEST(inner.opens == 1);
    tls_server another(signers.issue("another", "DNS:node.example"));
    std::swap(another, server);
    exchange_all(1000);
    BOOST_TEST(inner.opens == 2);
}

BOOST_AUTO_TEST_CASE(a_connection_given_up_during_the_handshake_is_not_reported_as_open)
{
    inner.wanted = false;
    exchange_all(100);
    BOOST_TEST(inner.opens == 0);
}

// Bytes that are not TLS end the connection, with an error that is no temporary one.
BOOST_AUTO_TEST_CASE(bytes_that_are_not_tls_are_told_apart)
{
    const std::string_view wrong = "-ERR Protocol error\r\n";
    std::copy(wrong.begin(), wrong.end(), layer->read_space().begin());
    layer->received(wrong.size(), at);
    BOOST_TEST(!layer->wants_open());
    layer->closed(make_error_code(boost::system::errc::operation_canceled), at);
    BOOST_TEST(inner.reason.message().find("does not speak TLS") != std::string::npos);
    BOOST_TEST((inner.reason.default_error_condition() ==
                make_error_code(errc::tls_failed).default_error_condition()));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
