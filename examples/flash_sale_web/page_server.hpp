#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace flash_sale_web {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace json = boost::json;

/// What a client of the live figures has seen already.
struct feed_position {
    std::uint64_t news = 0, points = 0;
};

/// Serves the page, its figures and its buttons, on the loopback address only.
///
/// - `GET /`         the page
/// - `GET /events`   the figures, as Server-Sent Events, four times a second
/// - `POST /actions` a button: `{"action": …}`. Only from the page itself: a request whose `Host`
///                   or `Origin` is another one is refused, so other pages in the same browser can
///                   neither read the figures nor press a button.
class page_server {
public:
    struct answer {
        http::status status;
        std::string text;
    };
    /// The figures, with what is new to this client.
    using feed = std::function<json::object(feed_position& seen)>;
    /// Does what a button asks for.
    using actor = std::function<answer(const json::object& asked)>;

    /// Port 0: any free port. Throws if the port is taken.
    page_server(
        asio::io_context& io, std::uint16_t port, std::string page, feed figures, actor buttons);

    std::string address() const; ///< "http://127.0.0.1:<port>/"
    asio::awaitable<void> run();

private:
    using request = http::request<http::string_body>;
    using response = http::response<http::string_body>;

    asio::awaitable<void> serve(asio::ip::tcp::socket client);
    asio::awaitable<void> stream_events(asio::ip::tcp::socket client);
    response handle(const request& asked);
    answer press(const request& asked);
    bool is_own(std::string_view host) const;

    asio::ip::tcp::acceptor acceptor_;
    std::string page_;
    feed feed_;
    actor actor_;
    // Streams that end with the execution context count down after this object has ended.
    std::shared_ptr<std::size_t> streams_ = std::make_shared<std::size_t>(0);
};

} // namespace flash_sale_web
