#include "load.hpp"

#include "json_lines.hpp"
#include "spawn.hpp"
#include "statistics.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/system/system_error.hpp>

#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace flash_sale_web {
namespace {

namespace http = boost::beast::http;
using asio::ip::tcp;
using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto patience = 3s;            // a buyer that is not answered tries another server
constexpr unsigned orders_as_guest = 25; // then it goes back to its own

// What all buyers share.
class market {
public:
    market(asio::any_io_executor executor, load_settings given)
        : executor_(std::move(executor)),
          given_(std::move(given))
    {
        if (given_.rate > 0)
            pace_.emplace(given_.rate, clock::now());
    }

    asio::any_io_executor executor() const { return executor_; }
    std::uint16_t port(std::size_t server) const
    {
        return given_.servers[server % given_.servers.size()];
    }
    bool open() const { return item_ != 0; }
    std::int64_t item() const { return item_; }

    // Where the next order goes.
    std::string target() { return path_ + std::to_string(item_) + "/" + std::to_string(++orders_); }

    // When the next order is due.
    instant due() { return pace_ ? pace_->next() : clock::now(); }

    void obey(const json::object& command)
    {
        if (const json::value* const measure = command.if_contains("measure")) {
            measure_now(measure->as_bool());
            return;
        }
        path_ = "/orders/" + std::string(command.at("strategy").as_string()) + "/";
        item_ = number(command, "item");
        next_ = number(command, "next");
    }

    void sold(instant due)
    {
        ++sold_;
        const instant now = clock::now();
        const auto latency = std::chrono::duration_cast<microseconds>(now - due);
        recent_.add(now, latency);
        if (measured_)
            measured_->add(latency);
    }

    // False: there is nothing else to buy yet.
    bool sold_out(std::int64_t item)
    {
        if (item == item_)
            item_ = next_;
        return item != item_;
    }

    void refused() { ++refused_; }
    void not_answered() { ++unanswered_; }

    json::object figures()
    {
        const latencies now = recent_.at(clock::now());
        return {{"sold", sold_}, {"refused", refused_}, {"unanswered", unanswered_},
            {"p50_us", now.quantile(0.5).count()}, {"p99_us", now.quantile(0.99).count()}};
    }

private:
    void measure_now(bool begins)
    {
        if (begins) {
            measured_.emplace();
            refused_before_ = refused_;
            unanswered_before_ = unanswered_;
            began_ = clock::now();
            if (pace_)
                pace_->restart(began_);
        } else if (measured_) {
            const auto time = std::chrono::duration<double>(clock::now() - began_);
            const auto count = static_cast<double>(measured_->count());
            print_json_line({{"measured", true}, {"orders_per_second", count / time.count()},
                {"p50_us", measured_->quantile(0.5).count()},
                {"p99_us", measured_->quantile(0.99).count()},
                {"refused", refused_ - refused_before_},
                {"unanswered", unanswered_ - unanswered_before_}});
            measured_.reset();
        }
    }

    asio::any_io_executor executor_;
    load_settings given_;
    std::optional<pace> pace_;
    std::string path_;
    std::int64_t item_ = 0, next_ = 0;
    std::uint64_t orders_ = 0, sold_ = 0, refused_ = 0, unanswered_ = 0;
    std::uint64_t refused_before_ = 0, unanswered_before_ = 0; // the measurement
    recent_latencies recent_{5s};
    std::optional<latencies> measured_;
    instant began_;
};

// One buyer: orders, waits for the answer, orders again.
class buyer {
public:
    buyer(market& there, std::size_t home)
        : market_(there),
          home_(home),
          server_(home),
          timer_(there.executor())
    {}

    asio::awaitable<void> run()
    {
        for (;;) {
            if (!market_.open()) {
                co_await pause(20ms);
                continue;
            }
            const instant due = market_.due();
            timer_.expires_at(due);
            co_await timer_.async_wait(asio::use_awaitable);
            co_await order_once(due);
        }
    }

private:
    asio::awaitable<void> order_once(instant due)
    {
        const std::int64_t item = market_.item();
        const http::status code = co_await ask();
        if (code == http::status::ok) {
            market_.sold(due);
        } else if (code == http::status::conflict) {
            if (!market_.sold_out(item))
                co_await pause(20ms);
        } else if (code == http::status::unknown) {
            market_.not_answered();
            stream_.reset();
            ++server_;
            as_guest_ = 0;
        } else {
            market_.refused();
            co_await pause(20ms);
        }
        if (server_ != home_ && ++as_guest_ > orders_as_guest) {
            server_ = home_;
            stream_.reset();
        }
    }

    // `unknown`: there was no answer.
    asio::awaitable<http::status> ask()
    {
        http::request<http::empty_body> order(http::verb::post, market_.target(), 11);
        order.set(http::field::host, "127.0.0.1");
        order.prepare_payload();
        http::response<http::string_body> reply;
        try {
            if (!stream_) {
                stream_ = std::make_unique<boost::beast::tcp_stream>(market_.executor());
                stream_->expires_after(patience);
                const tcp::endpoint there(asio::ip::address_v4::loopback(), market_.port(server_));
                co_await stream_->async_connect(there, asio::use_awaitable);
                stream_->socket().set_option(tcp::no_delay(true));
            }
            stream_->expires_after(patience);
            co_await http::async_write(*stream_, order, asio::use_awaitable);
            boost::beast::flat_buffer buffer;
            co_await http::async_read(*stream_, buffer, reply, asio::use_awaitable);
        } catch (const boost::system::system_error&) {
            co_return http::status::unknown;
        }
        co_return reply.result();
    }

    asio::awaitable<void> pause(std::chrono::milliseconds time)
    {
        timer_.expires_after(time);
        co_await timer_.async_wait(asio::use_awaitable);
    }

    market& market_;
    std::size_t home_, server_;
    unsigned as_guest_ = 0;
    asio::steady_timer timer_;
    std::unique_ptr<boost::beast::tcp_stream> stream_;
};

asio::awaitable<void> report(market& from)
{
    asio::steady_timer timer(from.executor());
    for (;;) {
        print_json_line(from.figures());
        timer.expires_after(200ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

load_settings parse(const std::string& given)
{
    const json::value all = json::parse(given);
    const json::object& from = all.as_object();
    load_settings result;
    for (const json::value& port : from.at("servers").as_array())
        result.servers.push_back(port.to_number<std::uint16_t>());
    result.buyers = static_cast<unsigned>(number(from, "buyers"));
    result.rate = static_cast<unsigned>(number(from, "rate"));
    return result;
}

} // namespace

std::string load_arguments(const load_settings& from)
{
    json::array ports;
    for (const std::uint16_t port : from.servers)
        ports.emplace_back(port);
    return json::serialize(
        json::object{{"servers", std::move(ports)}, {"buyers", from.buyers}, {"rate", from.rate}});
}

int run_load(const std::string& given)
{
    asio::io_context io(1);
    const load_settings settings = parse(given);
    market all(io.get_executor(), settings);
    std::vector<std::unique_ptr<buyer>> buyers;
    for (unsigned i = 0; i < settings.buyers; ++i) {
        buyers.push_back(std::make_unique<buyer>(all, i % settings.servers.size()));
        asio::co_spawn(io, buyers.back()->run(), rethrow);
    }
    asio::co_spawn(io, report(all), rethrow);

    asio::posix::stream_descriptor input(io, ::dup(STDIN_FILENO));
    const auto end = [&io](std::exception_ptr error) {
        rethrow(error);
        io.stop();
    };
    const auto obey = [&all](const json::object& command) {
        all.obey(command);
    };
    asio::co_spawn(io, read_json_lines(input, obey), end);
    io.run();
    return 0;
}

} // namespace flash_sale_web
