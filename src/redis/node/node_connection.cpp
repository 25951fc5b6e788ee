#include "redis/node/node_connection.hpp"

#include <utility>

namespace holdfast::redis {

node_connection::node_connection(node_settings settings, connection_owner& owner,
    core::wake_time& wakes, std::uint64_t jitter_seed)
    : settings_(std::move(settings)),
      owner_(owner),
      schedule_(settings_, wakes, jitter_seed),
      address_(settings_, schedule_, static_cast<node_address_owner&>(*this)),
      greeting_(settings_)
{}

void node_connection::wake(core::time_point now)
{
    if (schedule_.wake(now)) {
        if (schedule_.now() != connection_schedule::phase::searching)
            give_up({errc::no_reply,
                        settings_.tls ? "no connection within the connect timeout; does the port "
                                        "speak TLS?"
                                      : "no connection within the connect timeout"},
                now);
        else if (auto why = address_.on_overdue(now))
            give_up(std::move(*why), now);
    }
    address_.search_if_due(now);
}

void node_connection::aim(core::address where, core::time_point now)
{
    address_.aim(std::move(where));
    schedule_.start_over();
    address_.search_if_due(now);
}

void node_connection::park(core::time_point now)
{
    address_.park();
    if (schedule_.now() == connection_schedule::phase::idle)
        return; // nothing has been opened
    give_up({errc::unreachable, "it is no primary of the cluster any more"}, now);
}

void node_connection::give_up(failure why, core::time_point now)
{
    const bool searching = schedule_.now() == connection_schedule::phase::searching;
    if (!schedule_.give_up(why.code == condition::misconfigured, now))
        return;
    output_.clear();
    greeting_.lost();
    owner_.on_lost(std::move(why), now);
    if (!searching)
        return;
    address_.stop(); // nothing has been opened, so nothing will be closed
    schedule_.closed(now);
    address_.search_if_due(now);
}

bool node_connection::shut(core::time_point now)
{
    give_up({errc::closed, "the locker was closed"}, now);
    address_.stop();
    return schedule_.shut();
}

void node_connection::opened(core::time_point now)
{
    if (!schedule_.opened())
        return; // closed() will follow
    inbox_.reset(now);
    std::string first;
    if (!greeting_.start(address_.where(), first))
        return give_up({errc::authentication_failed, "the program gave no credentials"}, now);
    output_.append(first);
}

void node_connection::closed(error_code why, core::time_point now)
{
    failure lost = failure_of(why);
    if (!settings_.tls && schedule_.is_open() && !schedule_.is_ready() && inbox_.is_silent() &&
        why != boost::system::errc::operation_canceled)
        lost.text += " before the first answer; does the port speak TLS?";
    give_up(std::move(lost), now);
    schedule_.closed(now);
    address_.search_if_due(now);
}

void node_connection::received(std::size_t n, core::time_point now)
{
    inbox_.add(n);
    while (schedule_.is_open()) {
        switch (inbox_.next(now)) {
        case inbox::item::none:
            return;
        case inbox::item::broken:
            return give_up({errc::protocol_error, std::string(inbox_.problem())}, now);
        case inbox::item::answer:
            if (!schedule_.is_ready()) {
                on_greeting_reply(inbox_.front(), now);
                break;
            }
            inbox_.answered();
            owner_.on_reply(inbox_.front(), now);
            break;
        case inbox::item::push:
            if (schedule_.is_ready())
                owner_.on_push(inbox_.front(), now);
            else if (greeting_.expects(inbox_.front()))
                on_greeting_reply(inbox_.front(), now);
            break;
        }
    }
}

void node_connection::on_greeting_reply(reply answer, core::time_point now)
{
    std::string more;
    const auto outcome = greeting_.on_reply(answer, now, more);
    output_.append(more);
    switch (outcome) {
    case handshake::outcome::going_on:
        return;
    case handshake::outcome::failed:
        return give_up(greeting_.why(), now);
    case handshake::outcome::ready:
        break;
    }
    if (std::string objection = owner_.admit(); !objection.empty())
        return give_up({errc::misconfigured_node, std::move(objection)}, now);
    greeting_.over(output_.size());
    schedule_.greeted(now);
    address_.proved_right();
    owner_.on_ready(now);
}

void node_connection::written(std::size_t n, core::time_point now)
{
    output_.take(n);
    const std::size_t past_greeting = greeting_.past(n);
    if (schedule_.is_ready())
        owner_.on_written(past_greeting, now);
}

} // namespace holdfast::redis
