#include "redis/node/node_connection.hpp"

#include "redis/quorum/rendezvous.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

node_connection::node_connection(
    node_settings settings, connection_owner& owner, std::uint64_t jitter_seed)
    : settings_(std::move(settings)),
      owner_(owner),
      schedule_(settings_, jitter_seed)
{}

void node_connection::wake(core::time_point now)
{
    if (schedule_.wake(now))
        give_up(
            {errc::no_reply,
                settings_.tls ? "no connection within the connect timeout; does the port speak TLS?"
                              : "no connection within the connect timeout"},
            now);
}

void node_connection::give_up(failure why, core::time_point now)
{
    if (!schedule_.give_up(why.code == condition::misconfigured, now))
        return;
    output_.clear();
    greeting_left_ = 0;
    server_.keeps_queue = server_.tracks = false;
    owner_.on_lost(std::move(why), now);
}

bool node_connection::shut(core::time_point now)
{
    give_up({errc::closed, "the locker was closed"}, now);
    return schedule_.shut();
}

void node_connection::opened(core::time_point now)
{
    if (!schedule_.opened())
        return; // closed() will follow
    inbox_.reset(now);
    std::string greeting;
    if (settings_.login) {
        try {
            handshake_.start(settings_, settings_.login(), greeting);
        } catch (...) { // the program's own, which may have a secret in its text
            return give_up({errc::authentication_failed, "the program gave no credentials"}, now);
        }
    } else {
        handshake_.start(settings_, greeting);
    }
    output_.append(greeting);
}

void node_connection::closed(error_code why, core::time_point now)
{
    std::string text = why.message();
    if (!settings_.tls && schedule_.is_open() && !schedule_.is_ready() && inbox_.is_silent() &&
        why != boost::system::errc::operation_canceled)
        text += " before the first answer; does the port speak TLS?";
    const auto tls_failed = make_error_code(errc::tls_failed);
    const bool by_tls = why.default_error_condition() == tls_failed.default_error_condition();
    give_up({by_tls ? tls_failed : why, std::move(text)}, now);
    schedule_.closed(now);
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
            else if (handshake_.expects(inbox_.front()))
                on_greeting_reply(inbox_.front(), now);
            break;
        }
    }
}

void node_connection::on_greeting_reply(reply answer, core::time_point now)
{
    std::string more;
    const auto outcome = handshake_.on_reply(answer, now, more);
    output_.append(more);
    switch (outcome) {
    case handshake::outcome::going_on:
        return;
    case handshake::outcome::failed:
        return give_up(handshake_.why(), now);
    case handshake::outcome::ready:
        break;
    }
    server_ = handshake_.server();
    server_.identity = hash_of(server_.run_id.empty() ? settings_.name : server_.run_id);
    if (std::string objection = owner_.admit(); !objection.empty())
        return give_up({errc::misconfigured_node, std::move(objection)}, now);
    greeting_left_ = output_.size();
    schedule_.greeted(now);
    owner_.on_ready(now);
}

void node_connection::written(std::size_t n, core::time_point now)
{
    output_.take(n);
    const std::size_t of_greeting = std::min(greeting_left_, n);
    greeting_left_ -= of_greeting;
    if (schedule_.is_ready())
        owner_.on_written(n - of_greeting, now);
}

} // namespace holdfast::redis
