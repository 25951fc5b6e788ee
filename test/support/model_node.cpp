#include "support/model_node.hpp"

#include "redis/node/scripts.hpp"
#include "support/redis_client.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <utility>

namespace holdfast::test {

namespace {

// The name of a script in the log.
std::string name_of_script(std::string_view text)
{
    const auto is = [&](const redis::script& s) {
        return text == s.text || text == s.digest;
    };
    return is(redis::release_script)   ? "DELETE"
           : is(redis::pass_on_script) ? "PASS"
           : is(redis::enqueue_script) ? "ENQUEUE"
           : is(redis::baton_script)   ? "GIVE"
           : is(redis::join_script)    ? "JOIN"
           : is(redis::owner_script)   ? "OWNER"
           : is(redis::untrack_script) ? "UNTRACK"
                                       : "RENEW";
}

// Whether the handshake tries this command, on an unused key.
bool is_trial(redis_model::arguments command)
{
    const std::size_t key = command[0].starts_with("EVAL") ? 3 : 1;
    return command.size() > key && command[key].starts_with("holdfast:");
}

} // namespace

model_node::model_node(std::string run_id)
    : server(std::move(run_id)),
      client_(std::make_unique<client>())
{
    server.on_push = [to = client_.get()](std::uint64_t session, std::string_view bytes) {
        if (session == to->session.id)
            to->answers += bytes;
    };
}

// The server's wall clock, in whole milliseconds.
redis_model::time model_node::wall(core::time_point now) const
{
    return std::chrono::floor<redis_model::time>(now.time_since_epoch()) + ahead;
}

bool model_node::serve(core::connection& c, core::time_point now)
{
    if (!c.wants_open()) {
        if (connected_)
            disconnect(c, now);
        return false;
    }
    if (!connected_) {
        if (deaf)
            return false;
        if (!up) {
            c.closed(asio::error::connection_refused, now);
            return true;
        }
        connected_ = true;
        c.opened(now);
    }
    if (!up) {
        disconnect(c, now);
        return true;
    }
    bool changed = false;
    if (const std::string bytes(c.output()); !bytes.empty() && !deaf) {
        c.written(bytes.size(), now);
        server.before = [this](redis_model::arguments command) {
            return note(command);
        };
        server.receive(client_->session, bytes, wall(now), client_->answers);
        server.before = nullptr;
        changed = true;
    }
    return send(c, now) || changed;
}

void model_node::disconnect(core::connection& c, core::time_point now)
{
    if (!connected_)
        return;
    connected_ = false;
    *client_ = {};
    c.closed(asio::error::connection_reset, now);
}

bool model_node::send(core::connection& c, core::time_point now)
{
    if (silent || client_->answers.empty())
        return false;
    const std::string all = std::exchange(client_->answers, {});
    std::size_t at = 0;
    while (at < all.size() && c.wants_open()) {
        const std::span<char> space = c.read_space();
        const std::size_t n = std::min(space.size(), all.size() - at);
        std::memcpy(space.data(), all.data() + at, n);
        at += n;
        c.received(n, now);
    }
    return true;
}

// Writes the log. Returns the error that is set for this command, if any.
std::optional<std::string> model_node::note(redis_model::arguments command)
{
    static const std::set<std::string_view> greeting{
        "HELLO", "CLIENT", "INFO", "SCRIPT", "ROLE", "SUBSCRIBE"};
    std::string name(command[0]), line = name;
    if (is_trial(command) && !greeting.contains(name))
        return std::nullopt;
    if (name == "EVAL" || name == "EVALSHA") {
        const bool by_text = name == "EVAL";
        line = name = name_of_script(command[1]);
        const std::size_t count = std::stoul(std::string(command[2]));
        for (const std::string_view key : command.subspan(3, count)) {
            if (!key.ends_with(redis::queue_suffix) && !key.ends_with(redis::window_suffix))
                line += " " + std::string(key);
        }
        if (command[1] == redis::pass_on_script.text || command[1] == redis::pass_on_script.digest)
            line += count > 2 ? " for a window" : "";
        line += by_text ? " by text" : "";
    } else if (command.size() > 1) {
        line += " " + std::string(command[1]);
    }
    if (!greeting.contains(command[0]))
        log.push_back(line);
    if (const auto w = wrong.find(name); w != wrong.end())
        return w->second;
    const auto e = errors.find(name);
    if (e == errors.end())
        return std::nullopt;
    return "-" + e->second + "\r\n";
}

std::string model_node::command(const std::vector<std::string>& words, core::time_point now)
{
    redis_model::session other;
    std::string reply;
    server.receive(other, encode_command(words), wall(now), reply);
    return reply;
}

std::string model_node::owner(const std::string& key, core::time_point now) const
{
    const redis_model::item* const found = server.find(key, wall(now));
    return found == nullptr ? "" : found->value;
}

std::string model_node::commands()
{
    std::string all;
    for (const std::string& line : log)
        all += (all.empty() ? "" : ", ") + line;
    log.clear();
    return all;
}

} // namespace holdfast::test
