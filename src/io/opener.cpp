#include "io/opener.hpp"

#include "io/clock.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>

#include <fcntl.h>

#include <utility>

namespace holdfast::io {

opener::opener(transport_owner& owner, const asio::any_io_executor& executor, handler done)
    : guarded_(owner),
      executor_(executor),
      done_(std::move(done))
{}

void opener::start(const core::address& target, core::time_point end)
{
    candidates_.clear();
    last_error_ = asio::error::host_not_found;
    error_code not_an_address;
    const auto address = asio::ip::make_address(target.host, not_an_address);
    if (!target.path.empty() || !not_an_address) {
        if (target.path.empty())
            candidates_.emplace_back(asio::ip::tcp::endpoint(address, target.port));
        else
            candidates_.emplace_back(asio::local::stream_protocol::endpoint(target.path));
        return begin_race(end);
    }
    if (std::string name = target.host + " " + std::to_string(target.port); name != looked_up_) {
        look_up_.emplace();
        looked_up_ = std::move(name);
    }
    look_up_->start(executor_, target.host, target.port,
        guarded_([this, end](error_code ec, const look_up::endpoints& found) {
            if (ec)
                return finish(ec);
            for (const asio::ip::tcp::endpoint& each : found)
                candidates_.emplace_back(each);
            begin_race(end);
        }));
}

void opener::stop() noexcept
{
    guarded_.dismiss();
    if (look_up_)
        look_up_->forget();
    next_attempt_.reset();
    attempts_.clear();
}

void opener::heard() noexcept
{
    good_ = where_;
    if (silent_ == where_)
        silent_.reset();
}

void opener::begin_race(core::time_point end)
{
    std::vector<core::address_race::candidate> known;
    for (const protocol::endpoint& each : candidates_)
        known.push_back({.ipv6 = each.protocol().family() == AF_INET6,
            .good = each == good_,
            .silent = each == silent_});
    race_.begin(known, io::now(), end);
    go_on();
}

void opener::go_on()
{
    while (const auto next = race_.next(io::now()))
        attempt(candidates_[*next]);
    if (race_.lost()) {
        // Posted, because this may run inside start().
        auto give_up = guarded_([this](error_code) { finish(last_error_); });
        return asio::post(executor_, asio::append(std::move(give_up), error_code()));
    }
    if (race_.next_at() == core::never)
        return;
    next_attempt_.emplace(executor_, to_steady(race_.next_at()));
    next_attempt_->async_wait(guarded_([this](error_code ec) {
        if (!ec)
            go_on();
    }));
}

void opener::attempt(const protocol::endpoint& where)
{
    const std::size_t number = attempts_.size();
    protocol::socket& socket = attempts_.emplace_back(executor_);
    error_code ec;
    socket.open(where.protocol(), ec);
    if (ec) {
        last_error_ = ec;
        return race_.failed(io::now());
    }
    // Programs that the user starts must not keep these connections open.
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    socket.async_connect(where, guarded_([this, number, where](error_code failed) {
        if (!failed) {
            where_ = where;
            return finish({}, number);
        }
        last_error_ = failed;
        attempts_[number].close(failed);
        race_.failed(io::now());
        go_on();
    }));
}

void opener::finish(error_code ec, std::size_t attempt)
{
    protocol::socket won(executor_);
    if (!ec)
        won = std::move(attempts_[attempt]);
    stop(); // ignores the results of the other attempts
    done_(ec, std::move(won));
}

} // namespace holdfast::io
