#include "page_server.hpp"

#include "spawn.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

namespace flash_sale_web {
namespace {

using asio::ip::tcp;
using namespace std::chrono_literals;

constexpr std::size_t most_streams = 32;
constexpr std::uint64_t largest_body = 4'096;
constexpr auto feed_interval = 250ms;
constexpr auto page_limit = 10s; // a page that does not read

// The page is one file: nothing may be loaded from elsewhere.
constexpr auto page_policy = "default-src 'none'; script-src 'unsafe-inline'; "
                             "style-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
                             "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string host_of(const tcp::endpoint& here, const char* name)
{
    return std::string(name) + ":" + std::to_string(here.port());
}

template <class Message>
void set_usual_fields(Message& message, std::string_view type)
{
    message.set(http::field::content_type, type);
    message.set(http::field::cache_control, "no-store");
    message.set("X-Content-Type-Options", "nosniff");
}

} // namespace

page_server::page_server(
    asio::io_context& io, std::uint16_t port, std::string page, feed figures, actor buttons)
    : acceptor_(io, {asio::ip::address_v4::loopback(), port}),
      page_(std::move(page)),
      feed_(std::move(figures)),
      actor_(std::move(buttons))
{}

std::string page_server::address() const
{
    return "http://" + host_of(acceptor_.local_endpoint(), "127.0.0.1") + "/";
}

asio::awaitable<void> page_server::run()
{
    for (;;) {
        tcp::socket client = co_await acceptor_.async_accept(asio::use_awaitable);
        asio::co_spawn(acceptor_.get_executor(), serve(std::move(client)), asio::detached);
    }
}

asio::awaitable<void> page_server::serve(tcp::socket client)
{
    try {
        boost::beast::flat_buffer buffer;
        for (bool more = true; more;) {
            http::request_parser<http::string_body> parser;
            parser.body_limit(largest_body);
            co_await http::async_read(client, buffer, parser, asio::use_awaitable);
            const request& asked = parser.get();
            const bool streams = asked.method() == http::verb::get && asked.target() == "/events" &&
                                 is_own(asked[http::field::host]) && *streams_ < most_streams;
            if (streams) {
                co_await stream_events(std::move(client));
                break;
            }
            response reply = handle(asked);
            more = reply.keep_alive();
            co_await http::async_write(client, reply, asio::use_awaitable);
        }
    } catch (const boost::system::system_error&) {
        // The client is gone, or does not speak HTTP.
    }
}

asio::awaitable<void> page_server::stream_events(tcp::socket client)
{
    struct counted {
        std::shared_ptr<std::size_t> count;
        explicit counted(std::shared_ptr<std::size_t> all) : count(std::move(all)) { ++*count; }
        ~counted() { --*count; }
    };
    const counted one(streams_);
    boost::beast::tcp_stream stream(std::move(client));
    http::response<http::empty_body> head(http::status::ok, 11);
    set_usual_fields(head, "text/event-stream");
    head.keep_alive(false);
    http::response_serializer<http::empty_body> serializer(head);
    co_await http::async_write_header(stream, serializer, asio::use_awaitable);

    feed_position seen;
    asio::steady_timer timer(stream.get_executor());
    for (;;) {
        const std::string text = "data: " + json::serialize(feed_(seen)) + "\n\n";
        const auto bytes = asio::buffer(text);
        stream.expires_after(page_limit);
        co_await asio::async_write(stream, bytes, asio::use_awaitable);
        timer.expires_after(feed_interval);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

page_server::response page_server::handle(const request& asked)
{
    const auto reply = [&asked](http::status status, std::string_view type, std::string body) {
        response made(status, asked.version());
        set_usual_fields(made, type);
        made.keep_alive(asked.keep_alive());
        made.body() = std::move(body);
        made.prepare_payload();
        return made;
    };
    constexpr std::string_view text = "text/plain; charset=utf-8";
    // A name of somebody else's that leads here would make their page the same origin.
    if (!is_own(asked[http::field::host]))
        return reply(http::status::forbidden, text, "open the page by its own address\n");
    if (asked.method() == http::verb::get && asked.target() == "/") {
        response page = reply(http::status::ok, "text/html; charset=utf-8", page_);
        page.set("Content-Security-Policy", page_policy);
        return page;
    }
    if (asked.target() == "/events")
        return reply(http::status::service_unavailable, text, "too many pages are open\n");
    if (asked.target() != "/actions")
        return reply(http::status::not_found, text, "there is no such page\n");
    if (asked.method() != http::verb::post)
        return reply(http::status::method_not_allowed, text, "use POST\n");
    const answer done = press(asked);
    return reply(done.status, text, done.text.empty() ? done.text : done.text + "\n");
}

page_server::answer page_server::press(const request& asked)
{
    const std::string_view origin = asked[http::field::origin];
    constexpr std::string_view scheme = "http://";
    if (!origin.starts_with(scheme) || !is_own(origin.substr(scheme.size())))
        return {http::status::forbidden, "only the page itself may do this"};
    try {
        const json::value body = json::parse(asked.body());
        return actor_(body.as_object());
    } catch (const std::exception&) {
        return {http::status::bad_request, "a JSON object with an action is expected"};
    }
}

bool page_server::is_own(std::string_view host) const
{
    const tcp::endpoint here = acceptor_.local_endpoint();
    return host == host_of(here, "127.0.0.1") || host == host_of(here, "localhost");
}

} // namespace flash_sale_web
