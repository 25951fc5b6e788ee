#pragma once

#include "core/connection.hpp"
#include "core/time.hpp"
#include "resp/reader.hpp"

#include "fuzz/input.hpp"
#include "fuzz/replies.hpp"

#include <boost/asio/error.hpp>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace holdfast::fuzz {

// A node, and the connection to it. It does what a server does, or what the fuzzer wants instead.
// It sees each command when the core queues it, and each reply as the core will.
class node {
public:
    struct command {
        words text;
        core::time_point queued{};
        bool in_renewal = false; // queued while a renewal was asked for
        std::uint64_t end = 0;   // the place of its last byte in the stream
    };
    struct held_key {
        std::string token;
        core::time_point until{};
        core::time_point queued{}; // the request that it was set or renewed by
        core::duration ttl{};
    };

    core::connection* link = nullptr;
    std::string run_id;
    std::map<std::string, held_key> keys;
    std::function<void(const command&)> on_queued;
    std::function<void(const command&, std::span<const resp::value>)> on_reply;

    bool is_open() const { return state_ == state::open; }
    bool wants_to_open() const { return state_ == state::opening; }
    bool is_quiet() const { return is_open() && unanswered_.empty() && answers.empty(); }

    // Opens and closes as the core wants, like a shell; true if it has closed.
    bool follow(core::time_point now)
    {
        if (state_ == state::closed && link->wants_open())
            state_ = state::opening;
        if (state_ == state::closed || link->wants_open())
            return false;
        close(now, boost::asio::error::operation_aborted);
        return true;
    }

    void open(core::time_point now)
    {
        state_ = state::open;
        link->opened(now);
    }

    void close(core::time_point now, error_code why)
    {
        state_ = state::closed;
        queued_ = written_ = 0;
        seen_ = 0;
        unanswered_.clear();
        executed_ = 0;
        answers.clear();
        commands_.reset();
        replies_.reset();
        link->closed(why, now);
    }

    // Reads what the core has queued since the last time.
    void look(core::time_point now, bool in_renewal)
    {
        if (!is_open() || !link->wants_open())
            return;
        const std::string_view fresh = link->output().substr(seen_);
        seen_ += fresh.size();
        queued_ += fresh.size();
        commands_.feed(fresh);
        while (commands_.next() == resp::reader::status::reply) {
            // Commands are queued as a whole, so all of them end here at the latest.
            unanswered_.push_back({words_of(commands_.reply()), now, in_renewal, queued_});
            on_queued(unanswered_.back());
        }
        check(commands_.problem().empty(), "commands are well formed");
    }

    void take(std::size_t most)
    {
        if (!is_open())
            return;
        const std::size_t n = std::min(most, link->output().size());
        link->written(n);
        written_ += n;
        seen_ -= n;
    }

    // The next command that has arrived and was not executed, or null.
    const command* next() const
    {
        if (executed_ == unanswered_.size() || unanswered_[executed_].end > written_)
            return nullptr;
        return &unanswered_[executed_];
    }

    void answer(std::string_view reply)
    {
        answers += reply;
        ++executed_;
    }

    std::string execute(core::time_point now);

    // Lets so many bytes arrive at the core. The callers look() before and after.
    void deliver(std::size_t most, core::time_point now, const std::function<void()>& look_at_all);

    std::string answers;
    bool sure = true; // while on_reply: whether the core has certainly heard this reply

private:
    enum class state { closed, opening, open };

    void mirror(std::string_view bytes);

    state state_ = state::closed;
    std::size_t seen_ = 0; // of the core's output
    std::uint64_t queued_ = 0, written_ = 0;
    resp::reader commands_, replies_;
    std::deque<command> unanswered_; // and the first few of them executed
    std::size_t executed_ = 0;
};

inline void node::deliver(
    std::size_t most, core::time_point now, const std::function<void()>& look_at_all)
{
    if (!is_open() || !link->wants_open() || answers.empty())
        return;
    const std::span<char> space = link->read_space();
    const std::size_t n = std::min({most, answers.size(), space.size()});
    const std::string bytes = answers.substr(0, n);
    answers.erase(0, n);
    std::memcpy(space.data(), bytes.data(), n);
    link->received(n, now);
    look_at_all();
    mirror(bytes);
}

inline void node::mirror(std::string_view bytes)
{
    sure = link->wants_open();
    replies_.feed(bytes);
    while (replies_.next() == resp::reader::status::reply) {
        if (replies_.reply().front().what == resp::kind::push)
            continue;
        if (unanswered_.empty()) {
            check(!sure, "a reply that nobody asked for ends the connection");
            return;
        }
        const command c = unanswered_.front();
        unanswered_.pop_front();
        executed_ -= executed_ > 0 ? 1 : 0;
        on_reply(c, replies_.reply());
    }
    check(replies_.problem().empty() || !sure, "a bad reply ends the connection");
}

// As a server does.
inline std::string node::execute(core::time_point now)
{
    const words& text = next()->text;
    const core::time_point queued = next()->queued;
    std::erase_if(keys, [now](const auto& each) { return each.second.until <= now; });
    if (std::string reply = greeting_reply(text, run_id); !reply.empty())
        return reply;
    const auto ms = [](const std::string& digits) {
        return std::chrono::milliseconds(std::stoll(digits));
    };
    if (text[0] == "SET") {
        const bool free =
            keys.try_emplace(text[1], held_key{text[2], now + ms(text[5]), queued, ms(text[5])})
                .second;
        return free ? "+OK\r\n" : "_\r\n";
    }
    if (text[0] == "TYPE")
        return keys.contains(text[1]) ? "+string\r\n" : "+none\r\n";
    if (text[0] == "PTTL") {
        const auto found = keys.find(text[1]);
        return number(
            found == keys.end() ? -2 : (found->second.until - now) / std::chrono::milliseconds(1));
    }
    const bool removes =
        text[1] == redis::release_script.digest || text[1] == redis::release_script.text;
    const auto count = static_cast<std::size_t>(std::stoul(text[2]));
    std::string all = "*" + std::to_string(count) + "\r\n";
    for (std::size_t i = 0; i < count; ++i) {
        const auto found = keys.find(text[3 + i]);
        const bool ours = found != keys.end() && found->second.token == text[3 + count + 2 * i];
        if (removes) {
            if (ours)
                keys.erase(found);
            return number(ours ? 1 : 0);
        }
        if (ours) {
            found->second.until = now + ms(text[4 + count + 2 * i]);
            found->second.queued = queued;
        }
        all += number(ours ? 1 : 0);
    }
    return all;
}

} // namespace holdfast::fuzz
