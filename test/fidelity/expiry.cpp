// The end of a key, to the millisecond: it is there while the clock shows its end, and no longer.
#include "fidelity/twins.hpp"

#include <boost/test/unit_test.hpp>

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace holdfast::test;
using words = twins::words;
using time = redis_model::time;

std::int64_t number_in(std::string_view text)
{
    std::int64_t n = -1;
    std::from_chars(text.data(), text.data() + text.size(), n);
    return n;
}

std::int64_t time_in(const std::string& reply) // to TIME, in ms
{
    const std::size_t seconds = reply.find("\r\n", 4) + 2;
    const std::size_t rest = reply.find("\r\n", reply.find('$', seconds)) + 2;
    return number_in(reply.substr(seconds)) * 1000 + number_in(reply.substr(rest)) / 1000;
}

struct sightings {
    int at_the_end = 0, after_it = 0;
};

// Looks at a short-lived key all the time, until it is gone.
void watch(wire& real, redis_model& model, const std::string& question, sightings& seen)
{
    const std::string write = encode_command({"SET", "short", "x", "PX", "2"});
    const std::string ask_end = encode_command({"PEXPIRETIME", "short"});
    const std::string ask_time = encode_command({"TIME"});
    real.send({write, ask_end});
    const std::int64_t end = number_in(real.receive(2).back().substr(1));
    if (end < 0)
        return; // gone before it could be asked for

    redis_model::session session;
    std::string told;
    model.receive(session, encode_command({"SET", "short", "x", "PXAT", std::to_string(end)}),
        time(end - 2), told);
    std::string questions = ask_time;
    for (int i = 0; i < 50; ++i)
        questions += question + ask_time;
    for (std::int64_t now = 0; now <= end + 2;) {
        real.send({questions});
        const auto replies = real.receive(101);
        for (std::size_t i = 0; i + 2 < replies.size(); i += 2) {
            now = time_in(replies[i]);
            if (now != time_in(replies[i + 2]))
                continue; // the clock went on meanwhile
            told.clear();
            model.receive(session, question, time(now), told);
            BOOST_REQUIRE_MESSAGE(replies[i + 1] == told,
                now - end << " ms after the end, the server says " << visible(replies[i + 1])
                          << ", the model " << visible(told));
            ++twins::compared;
            seen.at_the_end += now == end ? 1 : 0;
            seen.after_it += now == end + 1 ? 1 : 0;
        }
        now = time_in(replies.back());
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(expiry)

BOOST_AUTO_TEST_CASE(a_key_is_there_at_its_end_and_gone_a_millisecond_later)
{
    redis_server server;
    wire real(server.port());
    redis_model model("");
    for (const words& question : {words{"GET", "short"}, words{"PTTL", "short"},
             words{"EXISTS", "short"}, words{"SET", "short", "x", "XX", "KEEPTTL"}}) {
        sightings seen;
        while (seen.at_the_end < 50 || seen.after_it < 50)
            watch(real, model, encode_command(question), seen);
    }
}

BOOST_AUTO_TEST_SUITE_END()
