#pragma once

#include "fuzz/node.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

// The execution of commands by a node, as by a server.
namespace holdfast::fuzz {

using namespace std::chrono_literals;

inline std::chrono::milliseconds ms(const std::string& digits)
{
    return std::chrono::milliseconds(std::stoll(digits));
}

inline std::string resource_of(const std::string& queue)
{
    return queue.substr(0, queue.size() - redis::queue_suffix.size());
}

inline bool node::publish(const std::string& place, const std::string& gift)
{
    if (place.substr(entry_length) != channel_)
        return others_listen;
    notify(place, gift);
    return true;
}

inline void node::notify(const std::string& place, const std::string& gift)
{
    if (is_open() && !channel_.empty())
        notices_ += ">3\r\n" + blob("message") + blob(channel_) +
                    blob(place.substr(0, entry_length) + gift);
}

inline void node::changed(const std::string& key)
{
    if (tracked_.erase(key) > 0)
        notices_ += ">2\r\n" + blob("invalidate") + "*1\r\n" + blob(key);
}

inline bool node::hand_over(const std::string& key, core::duration ttl, core::time_point now)
{
    std::deque<std::string>& queue = queues[key];
    while (!queue.empty()) {
        const std::string first = queue.front();
        queue.pop_front();
        keys[key] = {first.substr(0, token_length), now + ttl, now, ttl};
        changed(key);
        if (publish(first))
            return true;
    }
    return false;
}

inline void node::let_go(const std::string& key, core::time_point now)
{
    expire(now);
    if (!hand_over(key, std::chrono::milliseconds(500), now))
        keys.erase(key);
    changed(key);
    send_notices();
}

// What a script says of the lease that a key was given with.
inline std::string node::baton_in(const std::string& key, core::time_point now) const
{
    const held_key& k = keys.at(key);
    return blob(k.token.substr(0, token_length) + std::to_string((k.until - now) / 1ms) +
                k.token.substr(2 * token_length));
}

// Whether a key has the value of a lease that was given to the place with this token.
inline bool is_given_to(const std::string& value, const std::string& own)
{
    return value.size() > 2 * token_length && value.compare(token_length, token_length, own) == 0;
}

inline int node::give(const std::string& key, const std::string& value, const std::string& terms,
    core::duration ttl, core::time_point now)
{
    const auto found = keys.find(key);
    if (found == keys.end() || found->second.token != value)
        return 0;
    const held_key was = found->second;
    const std::string token = value.substr(0, token_length),
                      left = std::to_string((was.until - now) / 1ms);
    std::deque<std::string>& queue = queues[key];
    while (!queue.empty() && was.until - now >= 1ms) {
        const std::string first = queue.front(), to = first.substr(0, token_length);
        queue.pop_front();
        if (to == token || is_given_to(value, to))
            continue;
        const bool knows_batons = first.ends_with(redis::baton_mark);
        if (knows_batons)
            keys[key] = {token + to + terms, was.until, was.queued, was.ttl};
        else
            keys[key] = {to, now + ttl, now, ttl};
        changed(key);
        if (!publish(first, knows_batons ? token + left + terms : std::string()))
            continue;
        if (knows_batons)
            on_given(token, first);
        return knows_batons ? 2 : 3;
    }
    keys[key] = was;
    return 1;
}

// The script `pass_on`: key, queue, token, ttl of a hand-off, place; or key, queue, window, token,
// ttl, place, value of the window, and its ttl.
inline std::string node::pass_on(const words& text, core::time_point now)
{
    const std::string &token = argument(text, 0), own = argument(text, 2).substr(0, token_length);
    std::erase(queues[text[3]], argument(text, 2));
    const auto found = keys.find(text[3]);
    if (found == keys.end())
        return number(0);
    const std::string& value = found->second.token;
    if (value != token && (own.empty() || value != own))
        return !own.empty() && is_given_to(value, own) ? baton_in(text[3], now) : number(0);
    if (text[2] == "3" && !keys.contains(text[5])) {
        keys[text[5]] = {
            argument(text, 3), now + ms(argument(text, 4)), now, ms(argument(text, 4))};
        keys.erase(text[3]);
        changed(text[3]);
        return number(3);
    }
    if (hand_over(text[3], ms(argument(text, 1)), now))
        return number(2);
    keys.erase(text[3]);
    changed(text[3]);
    return number(1);
}

// The script `enqueue`: key, queue, window, token, ttl of a hand-off, place, ttl of the key, ttl of
// the queue.
inline std::string node::enqueue(const words& text, core::time_point queued, core::time_point now)
{
    std::deque<std::string>& queue = queues[text[3]];
    const std::string &token = text[6], &place = text[8];
    const held_key ours{token, now + ms(text[9]), queued, ms(text[9])};
    auto found = keys.find(text[3]);
    if (text.size() > 11 && found != keys.end() && found->second.token == token) {
        std::erase(queue, place);
        found->second = ours;
        return number(0);
    }
    if (text.size() > 11 && found != keys.end() && is_given_to(found->second.token, token)) {
        std::erase(queue, place);
        return baton_in(text[3], now);
    }
    if (std::find(queue.begin(), queue.end(), place) == queue.end())
        queue.push_back(place);
    if (found != keys.end())
        return number(
            std::max<std::int64_t>((found->second.until - now) / std::chrono::milliseconds(1), 1));
    if (const auto window = keys.find(text[5]); window != keys.end()) {
        const auto open = (window->second.until - now) / std::chrono::milliseconds(1) -
                          std::stoll(window->second.token);
        if (open > 0)
            return number(-1 - open);
    }
    while (queue.front() != place) {
        const std::string first = queue.front();
        queue.pop_front();
        keys[text[3]] = {first.substr(0, token_length), now + ms(text[7]), queued, ms(text[7])};
        if (publish(first))
            return number(ms(text[7]).count());
    }
    queue.pop_front();
    keys[text[3]] = ours;
    return number(0);
}

// The script `join`: key, queue, place, ttl of the queue.
inline std::string node::join(const words& text, core::time_point now)
{
    std::deque<std::string>& queue = queues[text[3]];
    const std::string& place = text[5];
    const auto found = keys.find(text[3]);
    const std::string own = place.substr(0, token_length),
                      value = found != keys.end() ? found->second.token : std::string();
    if (value == own || is_given_to(value, own)) {
        std::erase(queue, place);
        return value == own ? number(0) : baton_in(text[3], now);
    }
    if (std::find(queue.begin(), queue.end(), place) == queue.end())
        queue.push_back(place);
    return number(1);
}

inline std::string node::renew(const words& text, core::time_point queued, core::time_point now)
{
    const auto count = static_cast<std::size_t>(std::stoul(text[2]));
    std::string all = "*" + std::to_string(count) + "\r\n";
    for (std::size_t i = 0; i < count; ++i) {
        const auto found = keys.find(text[3 + i]);
        const bool ours = found != keys.end() && found->second.token == text[3 + count + 2 * i];
        if (ours) {
            const core::duration ttl = ms(text[4 + count + 2 * i]);
            found->second = {found->second.token, now + ttl, queued, ttl};
            changed(text[3 + i]);
        }
        all += number(ours ? 1 : 0);
    }
    return all;
}

inline std::string node::execute(core::time_point now)
{
    const words& text = next()->text;
    const core::time_point queued = next()->queued;
    expire(now);
    if (text[0] == "SUBSCRIBE")
        channel_ = text[1];
    const bool has_name = text.size() > 1;
    if (std::exchange(caching_, has_name && text[1] == "CACHING") && has_name)
        tracked_.insert(text[1]);
    if (std::string reply = greeting_reply(text, run_id); !reply.empty())
        return reply;
    const auto found = keys.find(text[1]);
    if (text[0] == "SET") {
        if (found != keys.end())
            return "_\r\n";
        keys[text[1]] = {text[2], now + ms(text[5]), queued, ms(text[5])};
        return "+OK\r\n";
    }
    if (text[0] == "TYPE")
        return found != keys.end() ? "+string\r\n" : "+none\r\n";
    if (text[0] == "PTTL")
        return number(
            found == keys.end() ? -2 : (found->second.until - now) / std::chrono::milliseconds(1));
    if (text[0] == "ZRANGE") {
        const auto& queue = queues[resource_of(text[1])];
        return queue.empty() ? "*0\r\n" : "*1\r\n" + blob(queue.front());
    }
    if (text[0] == "ZREM")
        return number(std::erase(queues[resource_of(text[1])], text[2]) != 0 ? 1 : 0);
    if (text[0] == "EXISTS")
        return number(queues[resource_of(text[1])].empty() ? 0 : 1);
    if (calls(text, redis::pass_on_script))
        return pass_on(text, now);
    if (calls(text, redis::join_script))
        return join(text, now);
    if (calls(text, redis::untrack_script)) {
        if (queues[resource_of(text[3])].empty())
            changed(text[3]);
        return "_\r\n";
    }
    if (calls(text, redis::owner_script)) {
        const auto held = keys.find(text[3]);
        return held != keys.end() ? blob(held->second.token.substr(0, token_length)) : "_\r\n";
    }
    if (calls(text, redis::baton_script)) {
        on_giving(text[3], text);
        return number(
            give(text[3], argument(text, 0), argument(text, 1), ms(argument(text, 2)), now));
    }
    if (calls(text, redis::enqueue_script))
        return enqueue(text, queued, now);
    if (calls(text, redis::renew_script))
        return renew(text, queued, now);
    const auto key = keys.find(text[3]);
    const bool ours = key != keys.end() && key->second.token == text[4];
    if (ours)
        keys.erase(key);
    return number(ours ? 1 : 0);
}

} // namespace holdfast::fuzz
