// The handshake with a node: correct answers, wrong answers, and bytes that are no answers.
#include "redis/node/handshake.hpp"

#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "fuzz/replies.hpp"
#include "support/times.hpp"

#include <algorithm>
#include <deque>
#include <string>

namespace {

using namespace holdfast::fuzz;
using holdfast::redis::handshake;
using holdfast::redis::node_settings;
using outcome = handshake::outcome;
namespace redis = holdfast::redis;
namespace resp = holdfast::resp;

const std::string secret = "s3cret%word";

struct greeting {
    node_settings settings{};
    handshake h{};
    resp::reader commands{}, replies{};
    std::string out{};
    std::deque<words> unanswered{};
    outcome result = outcome::going_on;
    bool said_primary = false; // or did not permit the question
    bool has_resp3 = false;
    bool confirmed = false;          // the subscription
    unsigned scripts = 0, wrong = 0; // digests that were right, or not

    explicit greeting(input& in)
    {
        const std::uint8_t choices = in.byte();
        settings.password = (choices & 1) != 0 ? secret : "";
        settings.user = (choices & 2) != 0 ? "shop" : "";
        settings.client_name = (choices & 4) != 0 ? "till 7" : "";
        settings.database = (choices & 8) != 0 ? 3 : 0;
        settings.channel = (choices & 16) != 0 ? "holdfast:0123" : "";
        settings.unused_key = (choices & 32) != 0 ? "holdfast:0123" : "";
    }

    void start()
    {
        result = outcome::going_on;
        said_primary = has_resp3 = confirmed = false;
        scripts = wrong = 0;
        unanswered.clear();
        replies.reset();
        h.start(settings, out);
        take_commands();
    }

    void take_commands()
    {
        commands.feed(out);
        out.clear();
        while (commands.next() == resp::reader::status::reply)
            take_command(words_of(commands.reply()));
        check(commands.problem().empty(), "commands are well formed");
    }

    void take_command(const words& command)
    {
        if (command[0] == "SUBSCRIBE")
            check(has_resp3 && command[1] == settings.channel, "only a RESP3 client subscribes");
        unanswered.push_back(command);
    }

    // Like node_session.
    void receive(std::string_view bytes)
    {
        replies.feed(bytes);
        while (result == outcome::going_on && replies.next() == resp::reader::status::reply) {
            if (replies.reply().front().kind != resp::value_kind::push ||
                h.expects(replies.reply()))
                take_reply(replies.reply());
        }
        if (!replies.problem().empty())
            result = outcome::failed; // the session would close
        else if (result == outcome::failed)
            check_reason();
        else if (result == outcome::ready)
            check_ready();
        else
            check(!unanswered.empty(), "an unfinished handshake waits for a reply");
    }

    void take_reply(redis::reply answer)
    {
        check(!unanswered.empty(), "the handshake takes a reply only after a command");
        const words command = unanswered.front();
        unanswered.pop_front();
        check(answer.front().kind != resp::value_kind::push || command[0] == "SUBSCRIBE",
            "only the reply to SUBSCRIBE comes as a push");
        enter(command, answer);
        result = h.on_reply(answer, holdfast::test::start, out);
        take_commands();
    }

    void enter(const words& command, redis::reply answer)
    {
        const resp::value& v = answer.front();
        has_resp3 = has_resp3 || (command[0] == "HELLO" && v.kind == resp::value_kind::map);
        if (command[0] == "HELLO" || command[0] == "ROLE") {
            for (const resp::value& each : answer)
                said_primary = said_primary || each.text == "master";
            said_primary =
                said_primary || (v.kind == resp::value_kind::error && v.text.starts_with("NOPERM"));
        } else if (command[0] == "SCRIPT") {
            ++(v.text == script_of(command).digest ? scripts : wrong);
        } else if (command[0] == "SUBSCRIBE") {
            confirmed = answer.size() > 1 && answer[1].text == "subscribe";
        }
    }

    void check_reason() const
    {
        const std::string& text = h.why().text;
        check(h.why().code.failed(), "a failure has a reason");
        check(text.size() <= 800, "a reason is short");
        check(std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; }),
            "a reason can be logged");
        check(settings.password.empty() || text.find(secret) == std::string::npos,
            "no reason holds the password");
    }

    void check_ready() const
    {
        check(unanswered.empty(), "a node is ready only when all commands are answered");
        check(said_primary, "a node is ready only as a primary");
        const bool may_queue = has_resp3 && !settings.channel.empty();
        check(wrong == 0 && scripts == (may_queue ? 4 : 3),
            "a node is ready only with the right scripts");
        check(h.server().keeps_queue == confirmed && (may_queue || !confirmed),
            "a node keeps a queue only if it has confirmed the subscription");
    }
};

// Roughly one reply to the next unanswered command.
std::string next_bytes(greeting& g, input& in)
{
    std::string bytes;
    switch (in.below(8)) {
    case 0:
        bytes = common_reply(in);
        break;
    case 1:
        append_value(bytes, in);
        break;
    case 2:
        bytes = in.text(in.byte());
        break;
    case 3: // servers echo arguments of unknown commands
        bytes = "-ERR unknown command, with " + short_line(in) + secret + short_line(in) + "\r\n";
        break;
    case 4: // the digest of another script
        if (g.unanswered.front()[0] == "SCRIPT")
            bytes = blob(&script_of(g.unanswered.front()) == &redis::release_script
                             ? redis::renew_script.digest
                             : redis::release_script.digest);
        else
            bytes = "-ERR unknown command\r\n";
        break;
    default:
        bytes = greeting_reply(g.unanswered.front(), short_line(in));
    }
    return bytes;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    input in(data, size);
    greeting g(in);
    std::string all;
    g.start();
    while (!in.empty() && g.result == outcome::going_on) {
        const std::string bytes = next_bytes(g, in);
        all += bytes;
        g.receive(bytes);
    }

    // The next connection starts again and receives the same bytes in one piece.
    const outcome result = g.result;
    const bool subscribed = g.h.server().keeps_queue;
    const std::string run_id = g.h.server().run_id, why = g.h.why().text;
    g.start();
    check(g.unanswered.size() == 1 && g.h.server().run_id.empty(),
        "a new handshake starts from scratch");
    g.receive(all);
    check(g.result == result && g.h.server().run_id == run_id && g.h.why().text == why &&
              g.h.server().keeps_queue == subscribed,
        "the outcome does not depend on how the bytes are split");
    return 0;
}
