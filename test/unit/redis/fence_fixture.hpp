#pragma once

#include "redis/node/fence_scripts.hpp"
#include "resp/reader.hpp"
#include "support/redlock_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::test {

// A node that answers the greeting by itself, and other requests when and as the test says.
class scripted_node {
public:
    using words = std::vector<std::string>;

    explicit scripted_node(std::string run_id) : run_id_(std::move(run_id)) {}

    static constexpr std::int64_t epoch = 1'700'000'000'000; // its clock at the start, in ms

    static std::int64_t clock(core::time_point now)
    {
        return epoch + std::chrono::floor<std::chrono::milliseconds>(now - start).count();
    }

    // Takes what was sent; true if there was anything.
    bool serve(core::connection& c, core::time_point now)
    {
        if (!c.wants_open()) {
            if (open_)
                disconnect(c, now);
            return false;
        }
        if (!std::exchange(open_, true)) {
            asked.clear();
            input_.reset();
            c.opened(now);
        }
        const std::string bytes(c.output());
        if (bytes.empty())
            return false;
        c.written(bytes.size(), now);
        input_.feed(bytes);
        while (input_.next() == resp::reader::status::reply) {
            words command;
            for (const resp::value& v : input_.reply().subspan(1))
                command.emplace_back(v.text);
            if (command.size() > 1 && command[1] == redis::owner_script.text)
                send(c, "$6\r\nliving\r\n", now); // the same as all other nodes
            else if (std::string greeting = answer_to_greeting(command, clock(now));
                     !greeting.empty())
                send(c, greeting, now);
            else
                asked.push_back(std::move(command));
        }
        return true;
    }

    void disconnect(core::connection& c, core::time_point now)
    {
        open_ = false;
        c.closed({}, now);
    }

    void send(core::connection& c, std::string_view bytes, core::time_point now)
    {
        const std::span<char> space = c.read_space();
        std::memcpy(space.data(), bytes.data(), bytes.size());
        c.received(bytes.size(), now);
    }

    std::deque<words> asked; // not answered yet

private:
    static std::string blob(std::string_view text)
    {
        return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
    }

    // Empty if the command is no part of the greeting.
    std::string answer_to_greeting(const words& command, std::int64_t time) const
    {
        if (command[0] == "HELLO")
            return "%1\r\n+role\r\n+master\r\n";
        if (command[0] == "INFO")
            return blob("run_id:" + run_id_ + "\r\n");
        if (command[0] == "TIME")
            return "*2\r\n" + blob(std::to_string(time / 1000)) +
                   blob(std::to_string(time % 1000 * 1000));
        if (command[0] == "SUBSCRIBE")
            return ">3\r\n+subscribe\r\n" + blob(command[1]) + ":1\r\n";
        if (command[0] == "SCRIPT") {
            for (const redis::script& s :
                {redis::release_script, redis::pass_on_script, redis::fenced_acquire_script,
                    redis::fenced_renew_script, redis::write_back_script})
                if (command[2] == s.text)
                    return blob(s.digest);
        }
        if (command[0] == "CLIENT")
            return "+OK\r\n";
        const std::size_t key = command[0].starts_with("EVAL") ? 3 : 1;
        return command[key].starts_with("hf:holdfast:") ? ":0\r\n" : ""; // a trial of the command
    }

    std::string run_id_;
    bool open_ = false;
    resp::reader input_;
};

// A redlock core in fenced mode over scripted nodes.
struct fence_fixture : redlock_fixture<scripted_node> {
    static constexpr redis::fence_settings usual{.quarantine = std::chrono::seconds(60),
        .ahead = std::chrono::seconds(1),
        .counter_lifetime = std::chrono::hours(168)};

    explicit fence_fixture(std::size_t count = 3, const redis::fence_settings& fence = usual)
        : redlock_fixture(count, std::chrono::milliseconds(50), fence)
    {
        terms.others_follow = true; // for the largest blocks
    }

    // Connects all nodes, and leaves no request unanswered.
    void connect()
    {
        run();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            BOOST_TEST(requests(i) == "confirm nobody, GET hf:n");
            held(i);
            answer(i, "_\r\n");
        }
    }

    static constexpr std::int64_t epoch = scripted_node::epoch;
    std::int64_t clock() const { return scripted_node::clock(now); }

    core::claim_id ask(std::uint64_t tag, char token = 'x')
    {
        const core::claim_id id = redlock_fixture::ask(tag, token);
        run();
        return id;
    }

    void disconnect(std::size_t node) { nodes[node].disconnect(*core->connections()[node], now); }

    // Answers the oldest request to a node with these bytes.
    void answer(std::size_t node, std::string_view bytes)
    {
        BOOST_REQUIRE(!nodes[node].asked.empty());
        nodes[node].asked.pop_front();
        nodes[node].send(*core->connections()[node], bytes, now);
        run();
    }
    void answer(std::size_t node, std::int64_t status, std::int64_t left)
    {
        answer(node, "*3\r\n:" + std::to_string(status) + "\r\n:" + std::to_string(left) +
                         "\r\n:" + std::to_string(clock()) + "\r\n");
    }
    void granted(std::size_t node, std::int64_t start_of_block) { answer(node, start_of_block, 0); }
    void held(std::size_t node, std::int64_t left = -2) { answer(node, 0, left); }
    void number(std::size_t node, int n) { answer(node, ":" + std::to_string(n) + "\r\n"); }
    void renewed(std::size_t node, int n) { answer(node, "*1\r\n:" + std::to_string(n) + "\r\n"); }

    // All nodes grant the same, and no request is left unanswered.
    core::claim_id acquire(std::uint64_t tag, std::int64_t start_of_block)
    {
        const core::claim_id id = ask(tag);
        for (std::size_t i = 0; i < nodes.size(); ++i)
            granted(i, start_of_block);
        BOOST_REQUIRE(events() == "7 granted " + std::to_string(start_of_block) + " for 988");
        return id;
    }

    // The unanswered requests to a node, in words.
    std::string requests(std::size_t node) const
    {
        std::string all;
        for (const auto& each : nodes[node].asked)
            all += (all.empty() ? "" : ", ") + called(each);
        return all;
    }

    static std::string called(const scripted_node::words& w)
    {
        if (w[0] != "EVAL" && w[0] != "EVALSHA")
            return w[0] + " " + w[1];
        const auto is = [&](const redis::script& s) {
            return w[1] == s.text || w[1] == s.digest;
        };
        const auto first = 3 + std::stoul(w[2]); // of the arguments
        const std::string by = w[0] == "EVAL" ? " by text" : "";
        if (is(redis::fenced_acquire_script))
            return w[first] + " " + short_name(w[first + 1]) + by;
        if (is(redis::write_back_script))
            return "write back " + w[first + 1] + " to " + w[first + 2] + by;
        if (is(redis::fenced_renew_script))
            return "renew to " + w[first + 4] + by;
        return (is(redis::release_script) ? "delete " : "pass ") + w[3] + by;
    }
    static std::string short_name(const std::string& token)
    {
        return token == "nobody" ? token : token.substr(0, 1);
    }

    std::string reason(std::size_t node) const { return core->nodes().stats()[node].reason; }
};

struct connected_fence : fence_fixture {
    connected_fence() { connect(); }
};

} // namespace holdfast::test
