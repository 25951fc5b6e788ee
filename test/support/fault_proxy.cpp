#include "support/fault_proxy.hpp"

#include "support/fault_proxy_connection.hpp"
#include "support/redis_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <sys/socket.h>

#include <array>
#include <list>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::test {

using namespace proxy;

class fault_proxy::impl {
public:
    explicit impl(std::uint16_t server_port)
        : server_(asio::ip::address_v4::loopback(), server_port)
    {
        acceptor_.non_blocking(true);
        acceptor_.listen();
        asio::co_spawn(io_, accept_all(), asio::detached);
        thread_ = std::thread([this] { io_.run(); });
    }

    ~impl()
    {
        io_.stop();
        thread_.join();
    }

    // Runs `work` on the thread of the proxy, and returns when it is done.
    template <class Work>
    auto perform(Work work)
    {
        return asio::post(io_, asio::use_future(std::move(work))).get();
    }

    void set(const link_faults& faults)
    {
        const auto before = std::exchange(faults_.new_connections, faults.new_connections);
        faults_ = faults;
        // A socket that stops listening in this way keeps its port.
        if (faults.new_connections == newcomers::refused && before != newcomers::refused)
            ::shutdown(acceptor_.native_handle(), SHUT_RD);
        else if (faults.new_connections != newcomers::refused && before == newcomers::refused)
            acceptor_.listen();
        listening_.cancel();
        for_each([](connection& c) {
            c.to_server.arrived = c.to_client.arrived = 0;
            c.to_server.next_byte = c.to_client.next_byte = {};
            c.wake();
        });
    }

    std::size_t for_each(void (*function)(connection&))
    {
        std::size_t count = 0;
        for (const auto& each : all_) {
            if (const shared c = each.lock(); c && c->open()) {
                function(*c);
                ++count;
            }
        }
        return count;
    }

    std::uint16_t port() const { return port_; }

private:
    // Uses ports below the range for outgoing connections. Otherwise a client that keeps trying to
    // connect could get this port itself, and be connected to itself.
    std::uint16_t bind()
    {
        acceptor_.set_option(
            tcp::acceptor::reuse_address(true)); // to listen again while old connections exist
        std::random_device random;
        std::uniform_int_distribution<unsigned> ports(10'000, 32'000);
        for (int tries = 0; tries < 1'000; ++tries) {
            const auto port = static_cast<std::uint16_t>(ports(random));
            error_code taken;
            acceptor_.bind({asio::ip::address_v4::loopback(), port}, taken);
            if (!taken)
                return port;
        }
        throw std::runtime_error("no free port");
    }

    task accept_all()
    {
        for (;;) {
            co_await acceptor_.async_wait(tcp::acceptor::wait_read, no_throw);
            const int socket = ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC);
            if (socket == -1) { // refused, until the faults change
                listening_.expires_at(steady::time_point::max());
                if (faults_.new_connections == newcomers::refused)
                    co_await listening_.async_wait(no_throw);
                continue;
            }
            const auto c =
                std::make_shared<connection>(tcp::socket(io_, tcp::v4(), socket), faults_);
            all_.remove_if([](const auto& each) { return each.expired(); });
            all_.push_back(c);
            asio::co_spawn(io_, faults_.new_connections == newcomers::served ? serve(c) : ignore(c),
                asio::detached);
        }
    }

    task serve(shared c)
    {
        c->server.assign(tcp::v4(), open_socket());
        const auto [ec] = co_await c->server.async_connect(server_, no_throw);
        if (ec) {
            c->end(true);
            co_return;
        }
        error_code unsupported;
        c->server.set_option(tcp::no_delay(true), unsupported);
        c->client.set_option(tcp::no_delay(true), unsupported);
        for (stream* each : {&c->to_server, &c->to_client}) {
            asio::co_spawn(io_, read_all(c, *each), asio::detached);
            asio::co_spawn(io_, deliver_all(c, *each), asio::detached);
        }
    }

    task ignore(shared c)
    {
        std::array<char, 4096> unread;
        for (error_code ec; !ec;)
            std::tie(ec, std::ignore) =
                co_await c->client.async_read_some(asio::buffer(unread), no_throw);
        c->end(false);
    }

    link_faults faults_;
    const tcp::endpoint server_;
    std::list<std::weak_ptr<connection>> all_;
    asio::io_context io_{1};
    // Not opened by Asio, like all sockets here: programs started by a test must not inherit them,
    // or a connection that is closed here would stay open there.
    tcp::acceptor acceptor_{io_, tcp::v4(), open_socket()};
    const std::uint16_t port_ = bind();
    asio::steady_timer listening_{io_};
    std::thread thread_;
};

fault_proxy::fault_proxy(std::uint16_t server_port) : impl_(std::make_unique<impl>(server_port)) {}
fault_proxy::~fault_proxy() = default;
fault_proxy::fault_proxy(fault_proxy&&) noexcept = default;

std::uint16_t fault_proxy::port() const noexcept
{
    return impl_->port();
}

std::string fault_proxy::url() const
{
    return "redis://127.0.0.1:" + std::to_string(port());
}

void fault_proxy::set(const link_faults& faults)
{
    impl_->perform([&] { impl_->set(faults); });
}

void fault_proxy::reset()
{
    impl_->perform([&] { impl_->for_each([](connection& c) { c.end(true); }); });
}

void fault_proxy::close()
{
    impl_->perform([&] { impl_->for_each([](connection& c) { c.end(false); }); });
}

std::size_t fault_proxy::connections()
{
    return impl_->perform([&] { return impl_->for_each([](connection&) {}); });
}

} // namespace holdfast::test
