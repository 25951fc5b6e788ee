#include "etcd/wire/grpc.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <string_view>

using namespace std::string_view_literals;
using holdfast::etcd_store::wire::arrival;
using holdfast::etcd_store::wire::grpc_calls;
using holdfast::etcd_store::wire::stream_id;
namespace status = holdfast::etcd_store::wire::status;

namespace {

// Frames of HTTP/2, as a server sends them.
std::string frame(std::uint8_t type, std::uint8_t flags, stream_id id, std::string_view body)
{
    std::string f;
    for (const unsigned shift : {16u, 8u, 0u})
        f += static_cast<char>(body.size() >> shift & 0xffu);
    f += static_cast<char>(type);
    f += static_cast<char>(flags);
    for (const unsigned shift : {24u, 16u, 8u, 0u})
        f += static_cast<char>(static_cast<std::uint32_t>(id) >> shift & 0xffu);
    return f += body;
}

constexpr std::uint8_t data = 0, headers = 1, reset = 3, settings = 4, ping = 6, goaway = 7;
constexpr std::uint8_t end_stream = 1, end_headers = 4;

// A header that is in no table.
std::string literal(std::string_view name, std::string_view value)
{
    return '\0' + std::string(1, static_cast<char>(name.size())) + std::string(name) +
           std::string(1, static_cast<char>(value.size())) + std::string(value);
}

std::string begin_answer(stream_id id)
{
    return frame(headers, end_headers, id, "\x88"sv); // :status 200
}

std::string end_answer(stream_id id, std::string_view code, std::string_view text = "")
{
    std::string fields = literal("grpc-status", code);
    if (!text.empty())
        fields += literal("grpc-message", text);
    return frame(headers, end_headers | end_stream, id, fields);
}

struct connection {
    connection() { BOOST_TEST(calls.receive(frame(settings, 0, 0, ""))); }
    arrival next()
    {
        const auto what = calls.next();
        BOOST_REQUIRE(what.has_value());
        return *what;
    }

    grpc_calls calls{"host:2379", false};
};

BOOST_FIXTURE_TEST_SUITE(etcd_grpc, connection)

BOOST_AUTO_TEST_CASE(a_call_is_one_framed_message)
{
    const stream_id call = calls.begin("/a/B", "question", {});
    BOOST_TEST(call == 1);
    const std::string out = calls.take_output();
    BOOST_TEST(out.starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    BOOST_TEST(out.ends_with(frame(data, end_stream, 1, "\0\0\0\0\x08question"sv)));
    BOOST_TEST(!calls.has_output());
}

BOOST_AUTO_TEST_CASE(a_token_is_sent_and_a_leader_is_demanded)
{
    calls.begin("/a/B", "", {.token = "t0ken", .needs_leader = true});
    const std::string with = calls.take_output();
    grpc_calls other("host:2379", false);
    other.begin("/a/B", "", {});
    const std::string without = other.take_output();
    BOOST_TEST(with.size() > without.size() + 10);
}

BOOST_AUTO_TEST_CASE(an_answer_is_a_message_and_an_end)
{
    const stream_id call = calls.begin("/a/B", "question", {});
    calls.take_output();
    const std::string bytes =
        begin_answer(call) + frame(data, 0, call, "\0\0\0\0\x03yes"sv) + end_answer(call, "0");
    for (const char c : bytes) // however it is split
        BOOST_TEST(calls.receive({&c, 1}));
    BOOST_TEST(next().text == "yes");
    const arrival end = next();
    BOOST_TEST((end.ended == status::ok));
    BOOST_TEST(!calls.next().has_value());
}

BOOST_AUTO_TEST_CASE(messages_may_be_split_over_frames_and_share_one)
{
    const stream_id call = calls.begin("/a/B", "", {.more_messages = true});
    calls.take_output();
    BOOST_TEST(calls.receive(begin_answer(call) +
                             frame(data, 0, call,
                                 "\0\0\0\0\x01"
                                 "a\0\0\0\0\x02x"sv) +
                             frame(data, 0, call, "y"sv)));
    BOOST_TEST(next().text == "a");
    BOOST_TEST(next().text == "xy");
    BOOST_TEST(!calls.next().has_value());
}

BOOST_AUTO_TEST_CASE(a_call_can_send_more)
{
    const stream_id call = calls.begin("/a/B", "one", {.more_messages = true});
    BOOST_TEST(calls.take_output().ends_with(frame(data, 0, call, "\0\0\0\0\x03one"sv)));
    calls.send(call, "two");
    BOOST_TEST(calls.has_output());
    BOOST_TEST(calls.take_output() == frame(data, 0, call, "\0\0\0\0\x03two"sv));
}

BOOST_AUTO_TEST_CASE(an_error_has_a_status_and_a_reason)
{
    const stream_id call = calls.begin("/a/B", "", {});
    calls.take_output();
    // Without an answer, the headers are the trailers as well.
    BOOST_TEST(calls.receive(frame(headers, end_headers | end_stream, call,
        "\x88" + literal("grpc-status", "7") + literal("grpc-message", "no rights"))));
    const arrival end = next();
    BOOST_TEST((end.ended == status::permission_denied));
    BOOST_TEST(end.text == "no rights");
}

BOOST_AUTO_TEST_CASE(a_call_that_is_broken_off_has_no_status)
{
    const stream_id call = calls.begin("/a/B", "", {});
    calls.take_output();
    BOOST_TEST(calls.receive(frame(reset, 0, call, "\0\0\0\x02"sv)));
    BOOST_TEST((next().ended == -1));

    const stream_id other = calls.begin("/a/B", "", {});
    calls.take_output();
    BOOST_TEST(
        calls.receive(frame(headers, end_headers | end_stream, other, "\x8d"sv))); // :status 404
    const arrival end = next();
    BOOST_TEST((end.ended == -1));
    BOOST_TEST(end.text.find("404") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_page_of_a_proxy_ends_the_call_alone)
{
    const stream_id call = calls.begin("/a/B", "question", {});
    const stream_id other = calls.begin("/a/B", "question", {});
    calls.take_output();
    BOOST_TEST(
        calls.receive(frame(headers, end_headers, call, literal(":status", "503")) +
                      frame(data, end_stream, call, "<html>too busy</html>") + begin_answer(other) +
                      frame(data, 0, other, "\0\0\0\0\x03yes"sv) + end_answer(other, "0")));
    const arrival end = next();
    BOOST_TEST((end.ended == -1));
    BOOST_TEST(end.text == "HTTP status 503");
    BOOST_TEST(next().text == "yes");
}

BOOST_AUTO_TEST_CASE(the_server_may_end_a_call_that_is_still_open_here)
{
    const stream_id call = calls.begin("/a/B", "one", {.more_messages = true});
    calls.take_output();
    BOOST_TEST(calls.receive(begin_answer(call) + end_answer(call, "14", "no leader")));
    calls.take_output();
    const arrival end = next();
    BOOST_TEST((end.ended == status::unavailable));
    BOOST_TEST(end.text == "no leader");
    calls.send(call, "two"); // does nothing
    BOOST_TEST(!calls.has_output());
}

BOOST_AUTO_TEST_CASE(nothing_arrives_from_a_cancelled_call)
{
    const stream_id call = calls.begin("/a/B", "", {.more_messages = true});
    calls.take_output();
    BOOST_TEST(calls.receive(begin_answer(call) + frame(data, 0, call, "\0\0\0\0\x01z"sv)));
    calls.cancel(call);
    BOOST_TEST(calls.receive(frame(data, 0, call, "\0\0\0\0\x01z"sv)));
    calls.take_output();
    BOOST_TEST(!calls.next().has_value());
}

BOOST_AUTO_TEST_CASE(too_long_and_compressed_messages_end_the_connection)
{
    for (const std::string_view bad : {"\1\0\0\0\x01z"sv, "\0\xff\xff\xff\xffz"sv}) {
        connection c;
        const stream_id call = c.calls.begin("/a/B", "", {});
        c.calls.take_output();
        BOOST_TEST(!c.calls.receive(begin_answer(call) + frame(data, 0, call, bad)));
        BOOST_TEST(c.calls.trouble().starts_with("gRPC: "));
        BOOST_TEST(!c.calls.receive(frame(settings, 0, 0, "")));
    }
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_http_end_the_connection)
{
    grpc_calls other("host:2379", false);
    other.take_output();
    BOOST_TEST(!other.receive("-ERR unknown command 'PRI'\r\n"));
    BOOST_TEST(!other.trouble().empty());
}

// Its questions have to be answered. The answers must not use up the memory.
BOOST_AUTO_TEST_CASE(a_server_that_asks_and_reads_no_answers_is_left)
{
    const std::string question = frame(ping, 0, 0, "12345678");
    for (int i = 0; i < 5000; ++i) { // of a server that reads them
        BOOST_REQUIRE(calls.receive(question));
        BOOST_REQUIRE(calls.take_output().size() >= question.size());
    }
    int taken = 0;
    while (taken < 5000 && calls.receive(question))
        ++taken;
    BOOST_TEST(taken >= 100);
    BOOST_TEST(taken < 5000);
    BOOST_TEST(calls.trouble().starts_with("HTTP/2: "));
}

BOOST_AUTO_TEST_CASE(a_server_that_goes_away_is_told)
{
    calls.begin("/a/B", "", {});
    calls.take_output();
    BOOST_TEST(!calls.going_away());
    BOOST_TEST(calls.receive(frame(goaway, 0, 0, "\0\0\0\x01\0\0\0\0"sv)));
    BOOST_TEST(calls.going_away());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
