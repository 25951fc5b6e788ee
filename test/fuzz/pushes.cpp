// Pushes between replies: pushes come at any time, and every reply still finds its request in
// order, however the bytes are split.
#include "redis/node/node_session.hpp"

#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "fuzz/replies.hpp"
#include "support/times.hpp"

#include <boost/asio/error.hpp>

#include <cstring>
#include <deque>
#include <string>

namespace {

using namespace holdfast::fuzz;
using namespace std::chrono_literals;
namespace core = holdfast::core;
namespace redis = holdfast::redis;
namespace resp = holdfast::resp;
using holdfast::errc;

redis::node_settings settings()
{
    return {.where = {.host = "a", .port = 1, .path = {}},
        .name = "a:1",
        .user = {},
        .password = {},
        .client_name = "shop",
        .channel = "holdfast:0123",
        .connect_timeout = 2s,
        .silence_timeout = 10s,
        .reconnect_min = 50ms,
        .reconnect_max = 2s,
        .max_requests = 16,
        .max_bytes = 1000};
}

std::string in_words(const std::string& reply)
{
    resp::reader r;
    r.feed(reply);
    check(r.next() == resp::reader::status::reply, "a generated reply is well formed");
    std::string out;
    describe(out, r.reply());
    return out;
}

// A session, its node and its owner.
struct world final : redis::session_owner {
    explicit world(input& choices) : in(choices) {}

    input& in;
    core::wake_time wakes;
    redis::node_session session{0, settings(), *this, wakes, 1};
    core::connection& connection = session.connection();
    core::time_point now = holdfast::test::start;
    resp::reader commands;
    std::string on_its_way; // bytes from the node
    bool ready = false, down = false;
    bool greeting = true; // pushes during the handshake may be reported or not
    struct expected {
        std::uint64_t reference;
        std::string reply; // in words; empty until the node has answered
    };
    std::deque<expected> unanswered;
    std::size_t answered = 0; // of these, by the node
    std::uint64_t last_reference = 0;
    std::deque<std::string> pushes; // under way to a ready session, in words

    std::string admit(std::size_t) override { return {}; }

    void on_push(std::size_t, redis::reply push, core::time_point) override
    {
        check(push.front().kind == resp::value_kind::push, "only pushes are reported as pushes");
        check(ready && !down, "pushes are reported only on a ready connection");
        std::string told;
        describe(told, push);
        check(greeting || (!pushes.empty() && told == pushes.front()),
            "pushes are reported unchanged and in order");
        if (!greeting)
            pushes.pop_front();
    }

    void on_ready(std::size_t, core::time_point) override
    {
        check(!ready, "a session gets ready only once");
        ready = true;
    }

    void on_reply(
        std::size_t, const redis::request& r, redis::reply answer, core::time_point) override
    {
        check(!unanswered.empty() && r.reference == unanswered.front().reference,
            "replies find their requests in order");
        std::string reply;
        describe(reply, answer);
        check(answered > 0 && reply == unanswered.front().reply, "a request gets its own reply");
        unanswered.pop_front();
        --answered;
    }

    bool say_again(std::size_t, const redis::request&, core::time_point) override { return false; }
    void on_sent_late(std::size_t, const redis::request&, core::time_point) override {}
    void on_orphaned(std::size_t, const redis::request& r, core::time_point) override
    {
        check(!down && !unanswered.empty() && r.reference == unanswered.front().reference,
            "orphans are reported in order, before the node is down");
        check(session.now() == redis::reachability::down,
            "a session that reports orphans sends no more");
        unanswered.pop_front();
        answered -= answered > 0 ? 1 : 0;
    }

    void on_down(std::size_t, core::time_point) override
    {
        check(!down, "a session goes down only once");
        down = true;
    }

    void push()
    {
        std::string bytes;
        append_push(bytes, in);
        on_its_way += bytes;
        if (!greeting)
            pushes.push_back(in_words(bytes));
    }

    void push_now_and_then()
    {
        if (in.below(3) == 0)
            push();
    }

    // Delivers bytes in pieces chosen by the input.
    void deliver(std::size_t most)
    {
        while (!on_its_way.empty() && connection.wants_open() && most > 0) {
            const std::size_t piece = in.flag() ? on_its_way.size() : 1 + in.below(16);
            const std::span<char> space = connection.read_space();
            const std::size_t n = std::min({piece, most, on_its_way.size(), space.size()});
            std::memcpy(space.data(), on_its_way.data(), n);
            on_its_way.erase(0, n);
            most -= n;
            connection.received(n, now);
        }
    }

    void greet()
    {
        session.wake(now);
        connection.opened(now);
        push_now_and_then();
        for (std::string sent(connection.output()); !sent.empty(); sent = connection.output()) {
            connection.written(sent.size(), now);
            commands.feed(sent);
            while (commands.next() == resp::reader::status::reply) {
                on_its_way += greeting_reply(words_of(commands.reply()), "abc");
                push_now_and_then();
            }
            deliver(on_its_way.size());
        }
        check(ready && !down && session.server().keeps_queue, "pushes do not disturb a handshake");
        greeting = false;
    }

    void ask()
    {
        session.send("x", {.reference = ++last_reference, .sent = now});
        connection.written(connection.output().size(), now);
        unanswered.push_back({last_reference, {}});
    }

    void answer()
    {
        if (answered == unanswered.size())
            return;
        std::string reply;
        append_value(reply, in);
        unanswered[answered++].reply = in_words(reply);
        on_its_way += reply;
    }

    void step()
    {
        switch (in.below(6)) {
        case 0:
        case 1:
            return ask();
        case 2:
        case 3:
            return answer();
        case 4:
            return push();
        default:
            return deliver(in.byte());
        }
    }

    void answer_all()
    {
        while (answered < unanswered.size()) {
            answer();
            push_now_and_then();
        }
        deliver(on_its_way.size());
        check(unanswered.empty() && session.outstanding() == 0, "every request gets a reply");
        check(pushes.empty(), "every push is reported");
        check(!down && connection.wants_open() && !session.stats().last_error.failed() == !failed(),
            "a correct node stays connected");
    }

    // Whether the last reply was an error, which the statistics keep.
    bool failed() const { return session.stats().last_error == errc::node_error; }

    // A malformed reply ends the connection and all its requests.
    void break_off(bool inside)
    {
        ask();
        ask();
        on_its_way = inside ? "*1\r\n>1\r\n+x\r\n" : ">1\r\n?";
        deliver(on_its_way.size());
        check(down && !connection.wants_open(), "a push in the wrong place ends the connection");
        check(unanswered.empty() && session.outstanding() == 0,
            "all requests of an ended connection are orphans");
        connection.closed(boost::asio::error::operation_aborted, now);
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    input in(data, size);
    world w(in);
    const bool inside = in.flag();
    w.greet();
    while (!in.empty())
        w.step();
    w.answer_all();
    w.break_off(inside);
    return 0;
}
