// One question over one connection, with scripted bytes.
#include "redis/node/one_question.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <cstring>
#include <stdexcept>
#include <string>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::credentials;
namespace core = holdfast::core;

namespace {

struct question_fixture : question_owner {
    std::string heard;
    credentials known;
    bool has_login = true;
    core::time_point now = start;
    one_question question{{.host = "a", .port = 1, .path = {}}, *this};

    credentials login() override
    {
        if (!has_login)
            throw std::runtime_error("s3cret");
        return known;
    }
    void on_answer(reply answer, core::time_point) override
    {
        heard += "answer " + std::string(answer.front().text) + "; ";
    }
    void on_error(std::string_view, failure why, core::time_point) override
    {
        heard += "error " + why.text + "; ";
    }
    void on_failed(failure why, core::time_point) override { heard += "no: " + why.text + "; "; }
    void on_closed(core::time_point) override { heard += "closed; "; }

    void ask() { question.ask("PING\r\n", now + 1s); }
    void receive(const std::string& bytes)
    {
        question.written(question.output().size(), now);
        const std::span<char> space = question.read_space();
        std::memcpy(space.data(), bytes.data(), bytes.size());
        question.received(bytes.size(), now);
    }
    std::string told() { return std::exchange(heard, {}); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redis_one_question, question_fixture)

// The answer ends the question, and the stream with it.
BOOST_AUTO_TEST_CASE(asks_on_a_new_stream)
{
    BOOST_TEST(!question.wants_open());
    ask();
    BOOST_TEST(question.wants_open());
    BOOST_TEST((question.opening_ends() == at(1s)));
    BOOST_TEST(!question.is_connected());
    question.opened(now);
    BOOST_TEST(question.is_connected());
    BOOST_TEST(question.output() == "PING\r\n");
    receive("+PONG\r\n+more\r\n");
    BOOST_TEST(told() == "answer PONG; ");
    BOOST_TEST(!question.wants_open());
    BOOST_TEST(!question.is_free());
    question.closed({}, now);
    BOOST_TEST(told() == "closed; ");
    BOOST_TEST(question.is_free());
}

BOOST_AUTO_TEST_CASE(logs_in_first)
{
    known = {.user = {}, .password = "s3cret"};
    ask();
    question.opened(now);
    BOOST_TEST(question.output() == "*2\r\n$4\r\nAUTH\r\n$6\r\ns3cret\r\nPING\r\n");
    receive("+OK\r\n+PONG\r\n");
    BOOST_TEST(told() == "answer PONG; ");
}

// Its text may have the password in it.
BOOST_AUTO_TEST_CASE(does_not_repeat_a_refused_login)
{
    known = {.user = "u", .password = "s3cret"};
    ask();
    question.opened(now);
    receive("-WRONGPASS s3cret\r\n+PONG\r\n");
    BOOST_TEST(told() == "no: it refused the user name or password; ");
    question.closed({}, now);
    has_login = false;
    heard.clear();
    ask();
    question.opened(now);
    BOOST_TEST(told() == "no: the program gave no credentials; ");
    BOOST_TEST(question.output() == "");
}

// A proxy may send answers of its own, so that the error about the login comes last.
BOOST_AUTO_TEST_CASE(no_error_repeats_the_password)
{
    known = {.user = "u", .password = "s3cret"};
    ask();
    question.opened(now);
    receive("+OK\r\n-ERR AUTH u s3cret s3cret?\r\n");
    BOOST_TEST(told() == "error ERR AUTH u (hidden) (hidden)?; ");
}

BOOST_AUTO_TEST_CASE(a_broken_stream_ends_the_question)
{
    ask();
    question.opened(now);
    question.closed(boost::asio::error::eof, now);
    BOOST_TEST(told().starts_with("no: "));
    BOOST_TEST(question.is_free());
    ask();
    question.opened(now);
    receive("?\r\n");
    BOOST_TEST(told().starts_with("no: "));
    BOOST_TEST(!question.wants_open());
}

// The stream of an earlier question is closed first, and its end says nothing about this one.
BOOST_AUTO_TEST_CASE(a_new_question_needs_a_new_stream)
{
    ask();
    question.opened(now);
    question.stop();
    BOOST_TEST(question.output() == "");
    ask();
    BOOST_TEST(!question.wants_open());
    BOOST_TEST(!question.is_connected());
    receive("+PONG\r\n"); // the answer to the earlier one
    BOOST_TEST(told() == "");
    question.closed(boost::asio::error::eof, now);
    BOOST_TEST(told() == "");
    BOOST_TEST(question.wants_open());
    question.opened(now);
    receive("+PONG\r\n");
    BOOST_TEST(told() == "answer PONG; ");
}

BOOST_AUTO_TEST_SUITE_END()
