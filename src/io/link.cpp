#include "io/link.hpp"

#include "io/clock.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>

#include <fcntl.h>
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

link::link(link_owner& owner, core::connection& served, const asio::any_io_executor& executor)
    : owner_(owner),
      connection_(served),
      socket_(executor)
{}

// Creates a completion handler that runs `handler` under the owner's mutex, if the socket is still
// the same.
template <class Handler>
auto link::guarded(Handler handler)
{
    return [owner = owner_.owned(), this, number = socket_number_, handler](
               error_code ec, auto&&... results) {
        auto action = [&] {
            if (number == socket_number_)
                handler(ec, std::forward<decltype(results)>(results)...);
        };
        owner->enter_from_link(
            [](void* context) { (*static_cast<decltype(action)*>(context))(); }, &action);
    };
}

bool link::follow(core::time_point now)
{
    const bool wanted = connection_.wants_open();
    if (wanted == (state_ != state::closed))
        return false;
    if (wanted) {
        start_opening();
    } else {
        close();
        connection_.closed(asio::error::operation_aborted, now);
    }
    return true;
}

void link::close() noexcept
{
    ++socket_number_;
    if (state_ == state::open && !heard_)
        silent_ = where_;
    state_ = state::closed;
    waiting_writable_ = false;
    error_code ignored;
    look_up_.forget();
    next_attempt_.reset();
    attempts_.clear();
    arrivals_.reset();
    socket_.close(ignored);
}

void link::broken(error_code why, core::time_point now)
{
    close();
    connection_.closed(why, now);
}

void link::start_opening()
{
    ++socket_number_;
    state_ = state::opening;
    candidates_.clear();
    last_error_ = asio::error::host_not_found;

    const core::address& where = connection_.target();
    error_code not_an_address;
    const auto address = asio::ip::make_address(where.host, not_an_address);
    if (!where.path.empty() || !not_an_address) {
        if (where.path.empty())
            candidates_.emplace_back(asio::ip::tcp::endpoint(address, where.port));
        else
            candidates_.emplace_back(asio::local::stream_protocol::endpoint(where.path));
        return begin_race();
    }
    look_up_.start(socket_.get_executor(), where.host, where.port,
        guarded([this](error_code ec, const look_up::endpoints& found) {
            if (ec)
                return broken(ec, io::now());
            for (const asio::ip::tcp::endpoint& each : found)
                candidates_.emplace_back(each);
            begin_race();
        }));
}

void link::begin_race()
{
    std::vector<core::address_race::candidate> known;
    for (const protocol::endpoint& each : candidates_)
        known.push_back({.ipv6 = each.protocol().family() == AF_INET6,
            .good = each == good_,
            .silent = each == silent_});
    race_.begin(known, io::now(), connection_.opening_ends());
    go_on_racing();
}

void link::go_on_racing()
{
    while (const auto next = race_.next(io::now()))
        try_address(candidates_[*next]);
    if (race_.lost()) {
        // Posted, because this may run inside follow().
        auto give_up = guarded([this](error_code) { broken(last_error_, io::now()); });
        return asio::post(socket_.get_executor(), asio::append(std::move(give_up), error_code()));
    }
    if (race_.next_at() == core::never)
        return;
    next_attempt_.emplace(socket_.get_executor(), to_steady(race_.next_at()));
    next_attempt_->async_wait(guarded([this](error_code ec) {
        if (!ec)
            go_on_racing();
    }));
}

void link::try_address(const protocol::endpoint& where)
{
    const std::size_t number = attempts_.size();
    protocol::socket& socket = attempts_.emplace_back(socket_.get_executor());
    error_code ec;
    socket.open(where.protocol(), ec);
    if (ec) {
        last_error_ = ec;
        return race_.failed(io::now());
    }
    // Programs that the user starts must not keep these connections open.
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    socket.async_connect(where, guarded([this, number, where](error_code failed) {
        if (!failed) {
            where_ = where;
            return on_connected(number);
        }
        last_error_ = failed;
        attempts_[number].close(failed);
        race_.failed(io::now());
        go_on_racing();
    }));
}

void link::on_connected(std::size_t attempt)
{
    ++socket_number_; // ignore the results of the other attempts
    socket_ = std::move(attempts_[attempt]);
    attempts_.clear();
    next_attempt_.reset();
    heard_ = false;
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

// The address that has answered is tried first the next time.
void link::on_heard()
{
    heard_ = true;
    good_ = where_;
    if (silent_ == where_)
        silent_.reset();
}

void link::start_reading()
{
    reading_since_ = io::now();
    const auto into = asio::buffer(*arrivals_);
    socket_.async_read_some(
        into, guarded([this, arrived = arrivals_](error_code ec, std::size_t n) {
            if (ec)
                return broken(ec, io::now());
            if (!heard_)
                on_heard();
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
    return state_ == state::open && !waiting_writable_ && !connection_.output().empty();
}

void link::flush(core::time_point now)
{
    if (state_ != state::open || waiting_writable_)
        return;
    for (std::string_view rest = connection_.output(); !rest.empty(); rest = connection_.output()) {
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
    socket_.async_wait(protocol::socket::wait_write, guarded([this](error_code ec) {
        waiting_writable_ = false;
        if (ec)
            broken(ec, io::now());
        else
            flush(io::now());
    }));
}

} // namespace holdfast::io
