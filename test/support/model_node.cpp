#include "support/model_node.hpp"

#include "redlock/scripts.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace holdfast::test {

namespace {

std::string blob(std::string_view text)
{
    return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

std::string number(std::int64_t n)
{
    return ":" + std::to_string(n) + "\r\n";
}

std::chrono::milliseconds milliseconds_of(const std::string& text)
{
    return std::chrono::milliseconds(std::stoll(text));
}

bool is_script(const std::string& text, const redis::script& s)
{
    return text == s.text || text == s.digest;
}

} // namespace

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
        reader_.reset();
        answers_.clear();
        c.opened(now);
    }
    if (!up) {
        disconnect(c, now);
        return true;
    }
    bool changed = false;
    if (const std::string bytes(c.output()); !bytes.empty() && !deaf) {
        c.written(bytes.size());
        take_commands(bytes, now);
        changed = true;
    }
    return send(c, now) || changed;
}

void model_node::disconnect(core::connection& c, core::time_point now)
{
    if (!connected_)
        return;
    connected_ = false;
    answers_.clear();
    c.closed(asio::error::connection_reset, now);
}

bool model_node::send(core::connection& c, core::time_point now)
{
    if (silent || answers_.empty())
        return false;
    const std::string all = std::exchange(answers_, {});
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

void model_node::take_commands(std::string_view bytes, core::time_point now)
{
    reader_.feed(bytes);
    while (reader_.next() == resp::reader::status::reply) {
        arguments command;
        for (const resp::value& v : reader_.reply().subspan(1))
            command.emplace_back(v.text);
        answers_ += execute(command, now);
    }
}

std::string model_node::execute(const arguments& command, core::time_point now)
{
    const std::string& name = command.at(0);
    std::erase_if(keys, [now](const auto& each) { return each.second.until <= now; });
    static const std::set<std::string> greeting{"HELLO", "CLIENT", "INFO", "SCRIPT", "ROLE"};
    if (greeting.contains(name))
        return greet(command);
    if (name == "EVAL" || name == "EVALSHA")
        return run_script(command, now);
    log.push_back(name + " " + command.at(1));
    if (const auto e = errors.find(name); e != errors.end())
        return "-" + e->second + "\r\n";
    if (name == "SET")
        return set(command, now);
    const auto found = keys.find(command.at(1));
    if (name == "TYPE")
        return "+" + (found == keys.end() ? "none" : type_of_keys) + "\r\n";
    if (name == "PTTL")
        return number(
            found == keys.end()
                ? -2
                : std::chrono::ceil<std::chrono::milliseconds>(found->second.until - now).count());
    return "-ERR unknown command\r\n";
}

std::string model_node::greet(const arguments& command)
{
    if (const auto e = errors.find(command[0]); e != errors.end())
        return "-" + e->second + "\r\n";
    if (command[0] == "HELLO")
        return "%2\r\n+mode\r\n+standalone\r\n+role\r\n+master\r\n";
    if (command[0] == "INFO")
        return blob("# Server\r\nredis_mode:standalone\r\nrun_id:" + run_id + "\r\n");
    if (command[0] == "SCRIPT")
        return blob(is_script(command.at(2), redis::release_script) ? redis::release_script.digest
                                                                    : redis::renew_script.digest);
    return "+OK\r\n";
}

std::string model_node::set(const arguments& command, core::time_point now)
{
    if (keys.contains(command.at(1)))
        return "_\r\n";
    keys[command[1]] = {command.at(2), now + milliseconds_of(command.at(5))};
    return "+OK\r\n";
}

std::string model_node::run_script(const arguments& command, core::time_point now)
{
    const bool by_text = command[0] == "EVAL";
    const bool deletes = is_script(command.at(1), redis::release_script);
    const auto count = static_cast<std::size_t>(std::stoul(command.at(2)));
    std::string line = deletes ? "DELETE" : "RENEW";
    const std::string name = line;
    for (std::size_t i = 0; i < count; ++i)
        line += " " + command.at(3 + i);
    log.push_back(line + (by_text ? " by text" : ""));
    if (const auto e = errors.find(name); e != errors.end())
        return "-" + e->second + "\r\n";
    if (!by_text && !knows_scripts)
        return "-NOSCRIPT No matching script. Please use EVAL.\r\n";

    std::string renewed = "*" + std::to_string(count) + "\r\n";
    for (std::size_t i = 0; i < count; ++i) {
        const auto found = keys.find(command.at(3 + i));
        const std::string& token = command.at(3 + count + (deletes ? 1 : 2) * i);
        const bool ours = found != keys.end() && found->second.token == token;
        if (deletes) {
            if (ours)
                keys.erase(found);
            return number(ours ? 1 : 0);
        }
        if (ours)
            found->second.until = now + milliseconds_of(command.at(4 + count + 2 * i));
        renewed += number(ours ? 1 : 0);
    }
    return renewed;
}

std::string model_node::owner(const std::string& key, core::time_point now) const
{
    const auto found = keys.find(key);
    return found == keys.end() || found->second.until <= now ? "" : found->second.token;
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
