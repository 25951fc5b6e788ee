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

// A node that answers the greeting and TIME by itself, and other requests when and as the test
// says. Like a server, it answers in the order of the requests.
class scripted_node {
public:
    using words = std::vector<std::string>;

    explicit scripted_node(std::string run_id) : run_id_(std::move(run_id)) {}

    static constexpr std::int64_t epoch = 1'700'000'000'000; // its clock at the start, in ms

    // Takes what was sent; true if there was anything.
    bool serve(core::connection& c, core::time_point now)
    {
        if (!c.wants_open()) {
            if (open_)
                disconnect(c, now);
            return false;
        }
        if (!open_ && !accepts)
            return false;
        if (!std::exchange(open_, true)) {
            asked.clear();
            input_.reset();
            c.opened(now);
        }
        const std::string bytes(c.output());
        if (bytes.empty() || deaf)
            return false;
        c.written(bytes.size(), now);
        input_.feed(bytes);
        while (input_.next() == resp::reader::status::reply) {
            words command;
            for (const resp::value& v : input_.reply().subspan(1))
                command.emplace_back(v.text);
            times_asked += command[0] == "TIME" ? 1 : 0;
            asked.push_back(std::move(command));
        }
        go_on(c, now);
        return true;
    }

    void disconnect(core::connection& c, core::time_point now)
    {
        open_ = false;
        c.closed({}, now);
    }

    // Sends bytes, and then what it answers by itself.
    void send(core::connection& c, std::string_view bytes, core::time_point now)
    {
        const std::span<char> space = c.read_space();
        std::memcpy(space.data(), bytes.data(), bytes.size());
        c.received(bytes.size(), now);
        go_on(c, now);
    }

    bool deaf = false;                 // takes no requests
    bool accepts = true;               // connections
    std::deque<words> asked;           // not answered yet
    int times_asked = 0;               // for its clock
    std::chrono::milliseconds ahead{}; // its clock, relative to that of the others

private:
    static std::string blob(std::string_view text)
    {
        return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
    }

    void go_on(core::connection& c, core::time_point now)
    {
        while (open_ && !asked.empty()) {
            const std::string bytes = answer_to(asked.front(), now);
            if (bytes.empty())
                return;
            asked.pop_front();
            const std::span<char> space = c.read_space();
            std::memcpy(space.data(), bytes.data(), bytes.size());
            c.received(bytes.size(), now);
        }
    }

    // Empty if the test answers.
    std::string answer_to(const words& command, core::time_point now) const
    {
        if (command[0] == "HELLO")
            return "%1\r\n+role\r\n+master\r\n";
        if (command[0] == "INFO")
            return blob("run_id:" + run_id_ + "\r\n");
        if (command[0] == "TIME") {
            const std::int64_t us =
                std::chrono::floor<std::chrono::microseconds>(now - start).count() +
                1000 * (epoch + ahead.count());
            return "*2\r\n" + blob(std::to_string(us / 1'000'000)) +
                   blob(std::to_string(us % 1'000'000));
        }
        if (command[0] == "SUBSCRIBE")
            return ">3\r\n+subscribe\r\n" + blob(command[1]) + ":1\r\n";
        if (command[0] == "SCRIPT") {
            for (const redis::script& s : {redis::release_script, redis::renew_script,
                     redis::pass_on_script, redis::enqueue_script})
                if (command[2] == s.text)
                    return blob(s.digest);
        }
        if (command[0] == "CLIENT")
            return "+OK\r\n";
        if (command.size() > 1 && command[1] == redis::owner_script.text)
            return blob("living"); // the same as all other nodes
        const std::size_t key = command[0].starts_with("EVAL") ? 3 : 1;
        return command[key].starts_with("hf:holdfast:") ? ":0\r\n" : ""; // a trial of the command
    }

    std::string run_id_;
    bool open_ = false;
    resp::reader input_;
};

// A redlock core in fenced mode over scripted nodes. Ballots are named by how far they are beyond
// the first one that the clocks permit, and tokens by how far they are beyond its first token.
struct fence_fixture : redlock_fixture<scripted_node> {
    static constexpr redis::fence_settings usual{
        .quarantine = std::chrono::seconds(60), .ahead = std::chrono::seconds(1)};
    static constexpr std::int64_t first_ballot = scripted_node::epoch * redis::ballots_in_ms;

    explicit fence_fixture(std::size_t count = 3, const redis::fence_settings& fence = usual)
        : redlock_fixture(count, std::chrono::milliseconds(50), fence)
    {
        first_token = static_cast<std::uint64_t>(first_ballot) * redis::tokens_in_ballot;
    }

    // Connects all nodes, which remember everything, and leaves no request unanswered.
    void connect()
    {
        run();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            BOOST_TEST(requests(i) == "open, record");
            opened(i);
            answer(i, "_\r\n");
        }
    }

    core::claim_id ask(std::uint64_t tag, char token = 'x', std::string_view resource = "A")
    {
        const core::claim_id id = redlock_fixture::ask(tag, token, resource);
        run();
        return id;
    }
    void renew(core::claim_id id)
    {
        core->renew({&id, 1}, false, now);
        run();
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
    // The same for a request of that kind.
    void answer(std::size_t node, std::string_view kind, std::string_view bytes)
    {
        const std::string first = requests(node);
        BOOST_REQUIRE(first.substr(0, first.find_first_of(" ,")) == kind);
        answer(node, bytes);
    }
    void opened(std::size_t node, std::int64_t status = 0)
    {
        answer(node, "open", "*2\r\n:" + std::to_string(status) + "\r\n:1\r\n");
    }
    void key(std::size_t node) { answer(node, "set", "+OK\r\n"); }
    void taken(std::size_t node) { answer(node, "set", "_\r\n"); }
    void accept(std::size_t node) { answer(node, "ballot", ":1\r\n"); }
    void refuse(std::size_t node) { answer(node, "ballot", ":0\r\n"); }
    void largest(std::size_t node, std::int64_t ballot)
    {
        answer(node, "largest", "," + std::to_string(first_ballot + ballot) + "\r\n");
    }
    void renewed(std::size_t node, int n)
    {
        answer(node, "renew", "*1\r\n:" + std::to_string(n) + "\r\n");
    }
    void deleted(std::size_t node)
    {
        const std::string first = requests(node);
        BOOST_REQUIRE((first.starts_with("delete") || first.starts_with("pass")));
        answer(node, ":1\r\n");
    }

    void grant(std::size_t node)
    {
        key(node);
        accept(node);
    }
    // It grants the key, but has accepted a larger ballot.
    void grant_behind(std::size_t node, std::int64_t ballot)
    {
        key(node);
        refuse(node);
        largest(node, ballot);
    }

    // The event of a lease with a token of that ballot.
    static std::string granted(std::uint64_t tag, std::int64_t ballot, int left = 988)
    {
        return std::to_string(tag) + " granted " + std::to_string(ballot * 128) + " for " +
               std::to_string(left);
    }

    // All nodes grant, and no request is left unanswered.
    core::claim_id acquire(std::uint64_t tag, std::int64_t ballot, std::string_view resource = "A")
    {
        const core::claim_id id = ask(tag, 'x', resource);
        for (std::size_t i = 0; i < nodes.size(); ++i)
            grant(i);
        BOOST_REQUIRE(events() == granted(tag, ballot));
        return id;
    }
    void release(core::claim_id id)
    {
        core->release(id, now);
        run();
        for (std::size_t i = 0; i < nodes.size(); ++i)
            deleted(i);
        events();
    }

    // The unanswered requests to a node, in words. Requests for its clock are left out.
    std::string requests(std::size_t node) const
    {
        std::string all;
        for (const auto& each : nodes[node].asked) {
            if (each[0] != "TIME")
                all += (all.empty() ? "" : ", ") + called(each);
        }
        return all;
    }
    // Those to all nodes, if they are the same.
    std::string requests() const
    {
        for (std::size_t i = 1; i < nodes.size(); ++i)
            BOOST_TEST(requests(i) == requests(0));
        return requests(0);
    }

    static std::string called(const scripted_node::words& w)
    {
        if (w[0] == "SET")
            return "set " + w[2].substr(0, 1);
        if (w[0] == "ZADD")
            return "ballot " + std::to_string(std::stoll(w[5]) - first_ballot);
        if (w[0] == "ZSCORE")
            return "largest";
        if (w[0] == "GET")
            return "record";
        if (w[0] != "EVAL" && w[0] != "EVALSHA")
            return w[0];
        const auto is = [&](const redis::script& s) {
            return w[1] == s.text || w[1] == s.digest;
        };
        if (is(redis::open_script))
            return "open";
        const std::string by = w[0] == "EVAL" ? " by text" : "";
        return (is(redis::release_script)      ? "delete"
                   : is(redis::pass_on_script) ? "pass"
                   : is(redis::enqueue_script) ? "enqueue"
                   : is(redis::join_script)    ? "join"
                                               : "renew") +
               by;
    }

    std::string reason(std::size_t node) const { return core->nodes().stats()[node].reason; }
};

struct connected_fence : fence_fixture {
    connected_fence() { connect(); }
};

// Nodes 0 to 2 of five have made the lease at once. 3 and 4 have been asked.
struct fenced_lease : fence_fixture {
    fenced_lease() : fence_fixture(5)
    {
        connect();
        id = ask(7);
        for (std::size_t i = 0; i < 3; ++i)
            grant(i);
        BOOST_REQUIRE(events() == granted(7, 0));
    }

    // The answers of the nodes to a renewal: 0 if the key is gone. The last one comes first.
    void renew_at(const std::string& answers)
    {
        renew(id);
        for (std::size_t i = answers.size(); i-- > 0;)
            renewed(i, answers[i] - '0');
    }

    core::claim_id id = 0;
};

} // namespace holdfast::test
