#include "redis/node/greeting.hpp"

#include "redis/quorum/rendezvous.hpp"

namespace holdfast::redis {

bool greeting::start(const core::address& where, std::string& out)
{
    if (!settings_.login) {
        handshake_.start(settings_, out);
        return true;
    }
    try {
        handshake_.start(settings_, settings_.login(where), out);
        return true;
    } catch (...) { // the program's own, which may have a secret in its text
        return false;
    }
}

handshake::outcome greeting::on_reply(reply answer, core::time_point now, std::string& out)
{
    const auto outcome = handshake_.on_reply(answer, now, out);
    if (outcome == handshake::outcome::ready) {
        server_ = handshake_.server();
        server_.keeps_queue = server_.keeps_queue && !settings_.asking;
        server_.identity = hash_of(server_.run_id.empty() ? settings_.name : server_.run_id);
    }
    return outcome;
}

void greeting::lost() noexcept
{
    unsent_ = 0;
    server_.keeps_queue = server_.tracks = false;
}

} // namespace holdfast::redis
