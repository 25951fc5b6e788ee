#include "zookeeper/channel.hpp"

#include "zookeeper/failure.hpp"

#include <limits>
#include <utility>

namespace holdfast::zookeeper_store {

channel::channel(
    const ensemble_settings& settings, const server_address& server, channel_owner& owner)
    : settings_(settings),
      server_(server),
      owner_(owner),
      record_(server.name)
{}

void channel::start(core::time_point now)
{
    state_ = state::opening;
    opening_ends_ = now + settings_.connect_timeout;
}

void channel::stop() noexcept
{
    if (wants_open())
        state_ = state::closing;
    opening_ends_ = core::never;
}

void channel::fail(errc why, std::string reason, core::time_point now)
{
    if (!wants_open())
        return;
    record_.failed(why, make_error_code(why), std::move(reason));
    stop();
    owner_.on_failed(*this, now);
}

std::int32_t channel::send(wire::request&& what)
{
    ++record_.stats().commands;
    last_number_ = last_number_ == std::numeric_limits<std::int32_t>::max() ? 1 : last_number_ + 1;
    what.number = last_number_;
    out_.append(wire::framed(wire::encode(what)));
    return last_number_;
}

void channel::opened(core::time_point now)
{
    if (state_ != state::opening)
        return;
    in_.clear();
    out_.clear();
    state_ = state::greeting;
    greeted_at_ = now;
    out_.append(wire::framed(wire::encode(owner_.greeting())));
}

void channel::become_ready(core::time_point now)
{
    state_ = state::ready;
    opening_ends_ = core::never;
    ++record_.stats().connects;
    owner_.on_ready(*this, now);
}

void channel::closed(error_code why, core::time_point now)
{
    const bool was_wanted = wants_open();
    const bool greeting = state_ == state::greeting;
    state_ = state::idle;
    opening_ends_ = core::never;
    in_.clear();
    out_.clear();
    if (!was_wanted)
        return;
    const auto tls_failed = make_error_code(errc::tls_failed);
    const bool by_tls = why.default_error_condition() == tls_failed.default_error_condition();
    // A server without a leader, or one that is behind, just closes the connection.
    record_.failed(by_tls ? errc::tls_failed : errc::unreachable, by_tls ? tls_failed : why,
        greeting && !by_tls ? "the server takes no session now: " + why.message() : why.message());
    owner_.on_failed(*this, now);
}

void channel::received(std::size_t n, core::time_point now)
{
    if (!wants_open())
        return;
    in_.append({arrived_.data(), n});
    while (wants_open()) {
        const auto record = in_.next();
        if (!record)
            break;
        read(*record, now);
    }
    if (in_.is_broken())
        fail(errc::protocol_error, "the length of a message is negative or too large", now);
}

void channel::read(std::string_view record, core::time_point now)
{
    if (state_ == state::greeting)
        return greeted(record, now);
    const auto header = wire::read_header(record);
    if (!header)
        return fail(errc::protocol_error, "a message is too short", now);
    switch (header->number) {
    case wire::number::watch_event:
        if (const auto event = wire::read_event(record))
            return owner_.on_event(*event, now);
        return fail(errc::protocol_error, "an event that is none", now);
    case wire::number::authentication:
        return logged_in(*header, now);
    case wire::number::ping:
        return;
    default:
        if (state_ != state::ready)
            return fail(errc::protocol_error, "an answer before the login", now);
        return owner_.on_reply(*header, record, now);
    }
}

void channel::greeted(std::string_view record, core::time_point now)
{
    const auto reply = wire::read_connect_reply(record);
    if (!reply)
        return fail(errc::protocol_error, "the first message is no answer of ZooKeeper", now);
    if (reply->read_only)
        return fail(errc::unreachable, "the server has no leader, and can only be read", now);
    owner_.on_greeted(*reply, greeted_at_, now);
    if (!wants_open())
        return;
    if (settings_.user.empty())
        return become_ready(now);
    state_ = state::login;
    out_.append(wire::framed(wire::encode(wire::request{.number = wire::number::authentication,
        .what = wire::operation::authenticate,
        .data = settings_.user + ':' + settings_.password,
        .scheme = "digest"})));
}

void channel::logged_in(const wire::reply_header& header, core::time_point now)
{
    if (header.error != wire::code::ok)
        return fail(errc::authentication_failed, in_words(header.error), now);
    if (state_ == state::login)
        become_ready(now);
}

} // namespace holdfast::zookeeper_store
