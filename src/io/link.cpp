#include "io/link.hpp"

#include "io/clock.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace holdfast::io {

namespace {

// Detects a node that has vanished, or a firewall that drops the connection, without a notice. This
// works on idle connections too, and takes seconds on busy ones. The host of a stopped process
// still acknowledges data, so that connection stays.
void tune(asio::generic::stream_protocol::socket& socket)
{
    error_code ignored;
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    const auto set = [&](int name, int value) {
        ::setsockopt(socket.native_handle(), IPPROTO_TCP, name, &value, sizeof value);
    };
    set(TCP_KEEPIDLE, 30); // seconds
    set(TCP_KEEPINTVL, 5);
    set(TCP_KEEPCNT, 3);
    set(TCP_USER_TIMEOUT, 5000); // milliseconds
}

// A peer that keeps sending must not block all other work.
constexpr int most_reads_at_once = 16;

} // namespace

link::link(transport_owner& owner, core::connection& served, const asio::any_io_executor& executor)
    : guarded_(owner),
      connection_(served),
      socket_(executor),
      opener_(owner, executor, [this](error_code ec, protocol::socket&& opened) {
          if (ec)
              broken(ec, io::now());
          else
              on_opened(std::move(opened));
      })
{}

bool link::follow(core::time_point now)
{
    const bool wanted = connection_.wants_open();
    if (wanted == (state_ != state::closed))
        return false;
    if (wanted) {
        state_ = state::opening;
        opener_.start(connection_.target(), connection_.opening_ends());
    } else {
        if (state_ == state::open)
            flush(now); // a last message, for example an alert of TLS
        if (state_ != state::closed)
            broken(asio::error::operation_aborted, now);
    }
    return true;
}

void link::close() noexcept
{
    guarded_.dismiss();
    opener_.stop();
    if (state_ == state::open && !heard_)
        opener_.silent();
    state_ = state::closed;
    waiting_writable_ = false;
    arrivals_.reset();
    error_code ignored;
    socket_.close(ignored);
}

void link::broken(error_code why, core::time_point now)
{
    close();
    connection_.closed(why, now);
}

void link::on_opened(protocol::socket&& opened)
{
    socket_ = std::move(opened);
    heard_ = false;
    if (!connection_.wants_open()) // since a call whose turn is still to come
        return broken(asio::error::operation_aborted, io::now());
    error_code ec;
    if (connection_.target().path.empty())
        tune(socket_);
    socket_.non_blocking(true, ec);
    if (ec)
        return broken(ec, io::now());
    state_ = state::open;
    arrivals_ = std::make_shared<arrivals>();
    read_until_ = seemed_empty_at_ = io::now();
    connection_.opened(read_until_);
    start_reading();
}

void link::start_reading()
{
    reading_since_ = io::now();
    const auto into = asio::buffer(*arrivals_);
    socket_.async_read_some(
        into, guarded_([this, arrived = arrivals_](error_code ec, std::size_t n) {
            if (ec)
                return broken(ec, io::now());
            if (!heard_)
                opener_.heard();
            heard_ = true;
            on_read({arrived->data(), n});
        }));
}

void link::on_read(std::string_view bytes)
{
    for (int reads = 1; take(bytes, io::now()); ++reads) {
        const bool all = bytes.size() < arrivals_->size();
        if (all)
            read_until_ = reading_since_;
        if (all || reads == most_reads_at_once)
            return start_reading(); // no more bytes, or time for other work
        reading_since_ = io::now();
        error_code ec;
        const std::size_t n = socket_.read_some(asio::buffer(*arrivals_), ec);
        if (ec == asio::error::would_block || ec == asio::error::try_again) {
            read_until_ = reading_since_;
            return start_reading();
        }
        if (ec)
            return broken(ec, io::now());
        bytes = {arrivals_->data(), n};
    }
}

// False if the connection accepts no more bytes; follow() closes it then.
bool link::take(std::string_view bytes, core::time_point now)
{
    while (!bytes.empty()) {
        const std::span<char> space = connection_.read_space();
        assert(!space.empty());
        const std::size_t n = bytes.copy(space.data(), space.size());
        bytes.remove_prefix(n);
        connection_.received(n, now);
        if (!connection_.wants_open())
            return false;
    }
    return true;
}

void link::note_empty(core::time_point now)
{
    if (state_ != state::open)
        return;
    error_code ec;
    if (socket_.available(ec) == 0 && !ec)
        seemed_empty_at_ = now;
}

void link::confirm_empty() noexcept
{
    read_until_ = std::max(read_until_, seemed_empty_at_);
}

bool link::has_output() const noexcept
{
    return state_ == state::open && !waiting_writable_ && connection_.unsent() != 0;
}

void link::flush(core::time_point now)
{
    if (state_ != state::open || waiting_writable_)
        return;
    for (;;) {
        connection_.prepare_output();
        const std::string_view rest = connection_.output();
        if (rest.empty())
            return;
        error_code ec;
        const std::size_t n = socket_.write_some(asio::buffer(rest), ec);
        if (ec == asio::error::would_block || ec == asio::error::try_again)
            return wait_writable();
        if (ec)
            return broken(ec, now);
        connection_.written(n, now);
    }
}

void link::wait_writable()
{
    waiting_writable_ = true;
    socket_.async_wait(protocol::socket::wait_write, guarded_([this](error_code ec) {
        waiting_writable_ = false;
        if (ec)
            broken(ec, io::now());
        else
            flush(io::now());
    }));
}

} // namespace holdfast::io
