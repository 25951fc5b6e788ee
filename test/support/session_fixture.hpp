#pragma once

#include "redis/node/node_session.hpp"
#include "redis/node/scripts.hpp"
#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <string>
#include <utility>

namespace holdfast::test {

inline redis::node_settings session_settings()
{
    using namespace std::chrono_literals;
    return {.where = {.host = "a", .port = 1, .path = {}},
        .name = "a:1",
        .user = {},
        .password = "s3cret",
        .client_name = {},
        .connect_timeout = 2s,
        .silence_timeout = 10s,
        .reconnect_min = 50ms,
        .reconnect_max = 2s,
        .max_requests = 16,
        .max_bytes = 1000};
}

// The answers of a node to HELLO, and to the rest of the greeting.
inline const std::string hello_answer = "%1\r\n+role\r\n+master\r\n";
inline std::string greeting_answers()
{
    const auto blob = [](std::string_view text) {
        return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
    };
    return "+OK\r\n+OK\r\n" + blob("run_id:abc\r\n") + blob("maxmemory:0\r\n") +
           blob(redis::release_script.digest) + blob(redis::renew_script.digest) +
           blob(redis::pass_on_script.digest);
}

// A session with the test as its network and owner.
struct session_fixture : redis::session_owner {
    using reach = redis::reachability;
    using reply = redis::reply;

    std::string heard; // calls of the owner, in order
    std::string objection;
    bool says_again = false; // scripts that the node had forgotten
    core::wake_time wakes;
    redis::node_session session{0, session_settings(), *this, wakes, 1};
    core::connection& connection = session.connection();
    core::time_point now = start;

    std::string admit(std::size_t) override { return objection; }
    void on_ready(std::size_t, core::time_point) override { heard += "ready "; }
    void on_push(std::size_t, reply push, core::time_point) override
    {
        heard += "push:" + std::string(push[1].text) + " ";
    }
    void on_reply(std::size_t, const redis::request& r, reply answer, core::time_point) override
    {
        heard += std::to_string(r.reference) + "=" +
                 (answer.front().kind == resp::value_kind::integer
                         ? std::to_string(answer.front().integer)
                         : std::string(answer.front().text)) +
                 " ";
    }
    bool say_again(std::size_t, const redis::request& r, core::time_point) override
    {
        if (says_again)
            heard += std::to_string(r.reference) + " again ";
        return says_again;
    }
    void on_sent_late(std::size_t, const redis::request& r, core::time_point when) override
    {
        BOOST_TEST((r.sent == when));
        heard += std::to_string(r.reference) + " late ";
    }
    void on_orphaned(std::size_t, const redis::request& r, core::time_point) override
    {
        BOOST_TEST((session.now() == reach::down)); // nothing is sent from here
        heard += std::to_string(r.reference) + "? ";
    }
    void on_down(std::size_t, core::time_point) override { heard += "down "; }

    // A node answers only requests that were written before.
    void receive(const std::string& bytes)
    {
        connection.written(connection.output().size(), now);
        receive_early(bytes);
    }
    void receive_early(const std::string& bytes)
    {
        const std::span<char> space = connection.read_space();
        BOOST_REQUIRE(space.size() >= bytes.size());
        std::memcpy(space.data(), bytes.data(), bytes.size());
        connection.received(bytes.size(), now);
    }

    void wake_until(core::time_point end)
    {
        while (session.wake_at() <= end) {
            now = std::max(now, session.wake_at());
            session.wake(now);
        }
        now = end;
    }

    void open()
    {
        wake_until(now);
        BOOST_REQUIRE(connection.wants_open());
        connection.opened(now);
    }

    void greet()
    {
        receive(hello_answer);
        receive(greeting_answers());
        connection.written(connection.output().size(), now);
    }

    void connect()
    {
        open();
        greet();
        BOOST_REQUIRE((session.now() == reach::ready));
        heard.clear();
    }

    void send(std::uint64_t reference)
    {
        session.send("x", {.reference = reference, .sent = now});
        connection.written(connection.output().size(), now);
    }

    std::string told()
    {
        BOOST_TEST((wakes.at() <= session.wake_at())); // it has noted each time
        return std::exchange(heard, {});
    }
};

} // namespace holdfast::test
