#pragma once

#include "core/connection.hpp"
#include "core/time.hpp"
#include "resp/reader.hpp"

#include "fuzz/input.hpp"
#include "fuzz/leases.hpp"
#include "fuzz/replies.hpp"

#include <boost/asio/error.hpp>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::fuzz {

// A node and the connection to it. It acts like a server, or as the fuzzer wants. It reads each
// command when the core queues it, and each reply in the same order as the core.
class node {
public:
    struct command {
        words text;
        core::time_point queued{};           // later: when its last byte was sent
        bool in_renewal = false;             // queued in a call of renew()
        bool confirms = false;               // confirms a turn; set by on_queued
        std::vector<std::uint64_t> claims{}; // the claims that it is for; set by on_queued
        std::uint64_t end = 0;               // the offset after its last byte in the stream
    };
    struct held_key {
        std::string token;
        core::time_point until{};
        core::time_point queued{}; // of the request that set or renewed it
        core::duration ttl{};
    };

    core::connection* link = nullptr;
    std::string run_id;
    std::map<std::string, held_key> keys;
    std::map<std::string, std::deque<std::string>> queues; // by key: the places of the waiters
    bool others_listen = false; // the clients of other processes have subscribed
    bool ever_disconnected = false;
    std::function<void(command&)> on_queued;
    std::function<void(const command&, core::duration waited)> on_sent; // its last byte; optional
    std::function<void()> on_closed;
    std::function<void(std::span<const resp::value>)> on_push;
    // A reply that the core is about to read, and the command, if that was queued before; optional.
    std::function<void(const command*, std::span<const resp::value>)> on_coming;
    std::function<void(const std::string& key, const words& give)> on_giving; // executes it
    std::function<void(const std::string& token, const std::string& place)> on_given;
    std::function<void(const command&, std::span<const resp::value>)> on_reply;

    bool is_open() const { return state_ == state::open; }
    bool wants_to_open() const { return state_ == state::opening; }
    bool is_quiet() const { return is_open() && unanswered_.empty() && answers.empty(); }

    // Opens and closes the connection as the core wants, like the I/O layer; true if it has closed.
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
        coming_.reset();
        notices_.clear();
        channel_.clear();
        wanted_.clear();
        tracked_.clear();
        subscribed_ = false;
        ever_disconnected = true;
        link->closed(why, now);
        on_closed();
    }

    // Reads the commands that the core has queued since the last call.
    void look(core::time_point now, bool in_renewal)
    {
        if (!is_open() || !link->wants_open())
            return;
        const std::string_view fresh = link->output().substr(seen_);
        seen_ += fresh.size();
        queued_ += fresh.size();
        commands_.feed(fresh);
        while (commands_.next() == resp::reader::status::reply) {
            // The core queues only whole commands, so each ends here at the latest.
            unanswered_.push_back({.text = words_of(commands_.reply()),
                .queued = now,
                .in_renewal = in_renewal,
                .end = queued_});
            if (unanswered_.back().text[0] == "SUBSCRIBE")
                wanted_ = unanswered_.back().text[1];
            on_queued(unanswered_.back());
        }
        check(commands_.problem().empty(), "commands are well formed");
    }

    void take(std::size_t most, core::time_point now)
    {
        if (!is_open())
            return;
        const std::size_t n = std::min(most, link->output().size());
        link->written(n, now);
        for (command& c : unanswered_) {
            if (c.end <= written_ || c.end > written_ + n)
                continue;
            if (on_sent)
                on_sent(c, now - c.queued);
            c.queued = now;
        }
        written_ += n;
        seen_ -= n;
    }

    // The next command that has arrived and has not been executed, or null.
    const command* next() const
    {
        if (executed_ == unanswered_.size() || unanswered_[executed_].end > written_)
            return nullptr;
        return &unanswered_[executed_];
    }

    void answer(std::string_view reply)
    {
        answers += reply;
        answers += notices_; // notifications caused by the command come after its reply
        notices_.clear();
        ++executed_;
    }

    // The queued commands without an answer.
    const std::deque<command>& unanswered() const { return unanswered_; }

    // The channel of the core's notifications; empty if it has not subscribed on this connection.
    const std::string& channel() const { return wanted_; }

    std::string execute(core::time_point now);
    // Hands a key off to the first waiter that listens; false if there is none.
    bool hand_over(const std::string& key, core::duration ttl, core::time_point now);
    void notify(const std::string& place, const std::string& gift = {});
    // Gives the lease of a key to the first waiter that listens. The result is that of the script.
    int give(const std::string& key, const std::string& value, const std::string& terms,
        core::duration ttl, core::time_point now);
    // The holder of a key releases it.
    void let_go(const std::string& key, core::time_point now);
    void send_notices() { answers += std::exchange(notices_, {}); }

    // Delivers up to this many bytes to the core. The callers call look() before and after.
    void deliver(std::size_t most, core::time_point now, const std::function<void()>& look_at_all);

    std::string answers;
    bool sure = true; // during on_reply: whether the core has certainly read this reply

private:
    enum class state { closed, opening, open };

    void preview(std::string_view bytes);
    void mirror(std::string_view bytes);
    bool publish(const std::string& place, const std::string& gift = {});
    std::string baton_in(const std::string& key, core::time_point now) const;
    void changed(const std::string& key); // sends an invalidation if the core tracks the key
    std::string pass_on(const words& text, core::time_point now);
    std::string join(const words& text, core::time_point now);
    std::string enqueue(const words& text, core::time_point queued, core::time_point now);
    std::string renew(const words& text, core::time_point queued, core::time_point now);
    void expire(core::time_point now)
    {
        std::erase_if(keys, [now](const auto& each) { return each.second.until <= now; });
    }

    state state_ = state::closed;
    std::size_t seen_ = 0; // of the core's output
    std::uint64_t queued_ = 0, written_ = 0;
    resp::reader commands_, replies_, coming_;
    std::deque<command> unanswered_;
    std::size_t executed_ = 0; // the first ones of these
    std::string wanted_;       // the channel that the core has subscribed to
    std::string channel_;      // the same, once the node has executed the command
    std::string notices_;      // pushes to send after the reply to the present command
    std::set<std::string> tracked_;
    bool caching_ = false;    // the key of the next command is tracked
    bool subscribed_ = false; // the core has received the answer to SUBSCRIBE
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
    if (on_coming)
        preview(bytes);
    link->received(n, now);
    look_at_all();
    mirror(bytes);
}

inline void node::preview(std::string_view bytes)
{
    std::size_t answered = 0;
    coming_.feed(bytes);
    while (coming_.next() == resp::reader::status::reply) {
        const auto reply = coming_.reply();
        const bool is_push = reply.front().kind == resp::value_kind::push;
        const command* const c = answered < unanswered_.size() ? &unanswered_[answered] : nullptr;
        const bool greets = c != nullptr && c->text[0] == "SUBSCRIBE";
        if (is_push && !(greets && reply.size() > 1 && reply[1].text == "subscribe")) {
            on_coming(nullptr, reply);
            continue;
        }
        ++answered;
        on_coming(c, reply);
    }
}

inline void node::mirror(std::string_view bytes)
{
    sure = link->wants_open();
    replies_.feed(bytes);
    while (replies_.next() == resp::reader::status::reply) {
        const auto reply = replies_.reply();
        const bool push = reply.front().kind == resp::value_kind::push;
        const bool greets = !unanswered_.empty() && unanswered_.front().text[0] == "SUBSCRIBE";
        if (push && subscribed_)
            on_push(reply);
        if (push && !(greets && reply.size() > 1 && reply[1].text == "subscribe"))
            continue;
        subscribed_ = subscribed_ || greets;
        if (unanswered_.empty()) {
            check(!sure, "an unexpected reply ends the connection");
            return;
        }
        const command c = unanswered_.front();
        unanswered_.pop_front();
        executed_ -= executed_ > 0 ? 1 : 0;
        on_reply(c, reply);
    }
    check(replies_.problem().empty() || !sure, "a malformed reply ends the connection");
}

} // namespace holdfast::fuzz
