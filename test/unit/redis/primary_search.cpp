// Sentinels are asked for the address of a primary, with scripted bytes.
#include "redis/node/primary_search.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"
#include "unit/redis/blob.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::credentials;
using holdfast::errc;
using holdfast::error_code;
namespace core = holdfast::core;

namespace {

std::string address(std::string_view host, std::string_view port)
{
    return "*2\r\n" + blob(host) + blob(port);
}

const std::string question = "*3\r\n$8\r\nSENTINEL\r\n$23\r\nGET-MASTER-ADDR-BY-NAME\r\n"
                             "$8\r\nmymaster\r\n";

// A search with the test as its network.
struct search_fixture : primary_search_owner {
    sentinel_settings settings;
    std::unique_ptr<primary_search> search;
    std::string found;
    failure why;
    core::time_point now = start;

    explicit search_fixture(std::size_t sentinels = 3)
    {
        settings.service = "mymaster";
        for (std::size_t i = 0; i < sentinels; ++i) {
            sentinel s;
            s.name = "s" + std::to_string(i) + ":26379";
            s.where = {.host = "s" + std::to_string(i), .port = 26379, .path = {}};
            settings.sentinels.push_back(std::move(s));
        }
        search = std::make_unique<primary_search>(settings, *this);
    }

    void on_found(core::address where, core::time_point) override
    {
        BOOST_TEST(!search->under_way());
        found += in_words(where);
    }
    void on_not_found(failure reason, core::time_point) override
    {
        why = std::move(reason);
        search->stop();
    }

    core::connection& connection(std::size_t i) { return *search->connections()[i]; }
    core::time_point begin() { return search->begin(now, now + 2s); }
    void open(std::size_t i)
    {
        BOOST_REQUIRE(connection(i).wants_open());
        connection(i).opened(now);
    }
    std::string sent(std::size_t i)
    {
        std::string bytes(connection(i).output());
        connection(i).written(bytes.size(), now);
        return bytes;
    }
    void receive(std::size_t i, const std::string& bytes)
    {
        sent(i);
        const std::span<char> space = connection(i).read_space();
        BOOST_REQUIRE(space.size() >= bytes.size());
        std::memcpy(space.data(), bytes.data(), bytes.size());
        connection(i).received(bytes.size(), now);
    }
    void answer(std::size_t i, const std::string& bytes)
    {
        open(i);
        receive(i, bytes);
    }
    // As the I/O layer does it.
    void close_all()
    {
        for (std::size_t i = 0; i < search->connections().size(); ++i) {
            if (!connection(i).wants_open())
                connection(i).closed(holdfast::asio::error::operation_aborted, now);
        }
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redis_primary_search, search_fixture)

// All are asked at once. Two of three that agree decide, and the third is not waited for.
BOOST_AUTO_TEST_CASE(a_majority_decides)
{
    BOOST_TEST(!connection(0).wants_open());
    BOOST_TEST((begin() == now + 500ms));
    BOOST_TEST(connection(2).target().host == "s2");
    BOOST_TEST((connection(2).opening_ends() == now + 2s));
    open(1);
    BOOST_TEST(sent(1) == question);
    receive(1, address("10.0.0.1", "6379"));
    BOOST_TEST(found == "");
    BOOST_TEST(!connection(1).wants_open());
    answer(2, address("10.0.0.1", "6379"));
    BOOST_TEST(found == "10.0.0.1:6379");
    BOOST_TEST(!connection(0).wants_open());
    close_all();
    BOOST_TEST(why.text == "");
}

// One sentinel is cut off with the old primary: it does not decide, in whatever order they answer.
BOOST_AUTO_TEST_CASE(two_primaries)
{
    begin();
    answer(0, address("10.0.0.9", "1"));
    answer(1, address("10.0.0.1", "1"));
    BOOST_TEST(found == "");
    answer(2, address("10.0.0.1", "1"));
    BOOST_TEST(found == "10.0.0.1:1");
}

// Without a majority the address with most votes is used, but one that led to no primary comes
// last.
BOOST_AUTO_TEST_CASE(equal_votes)
{
    const auto ask_both = [this] {
        found.clear();
        begin();
        answer(0, address("10.0.0.9", "1"));
        answer(1, address("10.0.0.1", "1"));
        connection(2).closed(holdfast::asio::error::connection_refused, now);
        close_all();
    };
    ask_both();
    BOOST_TEST(found == "10.0.0.9:1");
    ask_both();
    BOOST_TEST(found == "10.0.0.1:1");
    search->proved_right();
    ask_both();
    BOOST_TEST(found == "10.0.0.9:1");
}

// Sentinels that are not connected cost a quarter of the time, when another one has answered.
BOOST_AUTO_TEST_CASE(silent_sentinels)
{
    const core::time_point due = begin();
    answer(1, address("::1", "6380"));
    BOOST_TEST(found == "");
    now = due;
    BOOST_TEST(search->settle(now));
    BOOST_TEST(found == "[::1]:6380");
    BOOST_TEST(!connection(0).wants_open());
    BOOST_TEST(!connection(2).wants_open());
}

// A sentinel that is cut off with the old primary answers at once. The others are connected, but
// slow: they are waited for.
BOOST_AUTO_TEST_CASE(slow_majority)
{
    const core::time_point due = begin();
    answer(0, address("10.0.0.9", "1"));
    open(1);
    open(2);
    now = due;
    BOOST_TEST(!search->settle(now));
    now = due + 200ms;
    receive(1, address("10.0.0.1", "1"));
    BOOST_TEST(found == "");
    receive(2, address("10.0.0.1", "1"));
    BOOST_TEST(found == "10.0.0.1:1");
}

// The answers of one half do not outvote those that the other half may still give.
BOOST_AUTO_TEST_CASE(slow_half)
{
    const core::time_point due = begin();
    answer(0, address("10.0.0.9", "1"));
    open(1);
    now = due;
    BOOST_TEST(!search->settle(now));
    now = search->end();
    BOOST_TEST(search->settle(now));
    BOOST_TEST(found == "10.0.0.9:1");
}

// Slow sentinels that cannot outvote the others are not waited for.
BOOST_AUTO_TEST_CASE(slow_minority)
{
    search_fixture f(5);
    const core::time_point due = f.begin();
    f.answer(0, address("10.0.0.1", "1"));
    f.open(1);
    f.answer(2, address("10.0.0.1", "1"));
    BOOST_TEST(f.found == "");
    f.now = due;
    BOOST_TEST(f.search->settle(f.now));
    BOOST_TEST(f.found == "10.0.0.1:1");
}

// The slow ones may give the majority to an address that is behind so far.
BOOST_AUTO_TEST_CASE(slow_ones_turn_the_vote)
{
    search_fixture f(7);
    const core::time_point due = f.begin();
    for (std::size_t i = 0; i < 5; ++i)
        f.answer(i, address(i < 3 ? "10.0.0.9" : "10.0.0.1", "1"));
    f.open(5);
    f.open(6);
    f.now = due;
    BOOST_TEST(!f.search->settle(f.now));
    f.receive(5, address("10.0.0.1", "1"));
    f.receive(6, address("10.0.0.1", "1"));
    BOOST_TEST(f.found == "10.0.0.1:1");
}

// The stream of an earlier question does not count as a connection.
BOOST_AUTO_TEST_CASE(outdated_streams_are_silent)
{
    begin();
    open(0);
    search->stop();
    const core::time_point due = begin();
    answer(1, address("10.0.0.1", "1"));
    now = due;
    BOOST_TEST(search->settle(now));
    BOOST_TEST(found == "10.0.0.1:1");
}

// When none has answered yet, the search goes on; then the reason names each of them.
BOOST_AUTO_TEST_CASE(nobody_answers)
{
    now = begin();
    BOOST_TEST(!search->settle(now));
    BOOST_TEST(search->under_way());
    connection(0).closed(holdfast::asio::error::connection_refused, now);
    answer(1, "*-1\r\n");
    BOOST_TEST(!search->settle(search->end()));
    const failure reason = search->why_not();
    BOOST_TEST((reason.code == holdfast::asio::error::connection_refused));
    BOOST_TEST(reason.text == "no sentinel has named the primary of mymaster: s0:26379: Connection "
                              "refused, s1:26379: it knows no service mymaster, s2:26379: no "
                              "answer");
    answer(2, address("10.0.0.1", "1"));
    BOOST_TEST(found == "10.0.0.1:1");
}

// Only what each of them says needs a person.
BOOST_AUTO_TEST_CASE(unknown_service)
{
    begin();
    answer(0, "*-1\r\n");
    answer(1, "_\r\n");
    BOOST_TEST(why.text == "");
    answer(2, "-ERR unknown command 'SENTINEL', with args beginning with: 'GET-MASTER'\r\n");
    BOOST_TEST((why.code == errc::misconfigured_node));
    BOOST_TEST(why.text.find("s2:26379: it is no sentinel") != std::string::npos);
    BOOST_TEST(!connection(0).wants_open());
}

// A new question needs a new stream: the bytes of an earlier one must not answer it.
BOOST_AUTO_TEST_CASE(asks_again)
{
    begin();
    open(0);
    search->stop();
    begin();
    BOOST_TEST(!connection(0).wants_open());
    BOOST_TEST(connection(1).wants_open());
    connection(0).closed(holdfast::asio::error::operation_aborted, now);
    BOOST_TEST(connection(0).wants_open());
    open(0);
    BOOST_TEST(sent(0) == question);
}

// The login goes first. What a sentinel says of it is not repeated.
BOOST_AUTO_TEST_CASE(login)
{
    settings.sentinels[0].login = [] {
        return credentials{.user = {}, .password = "s3cret"};
    };
    settings.sentinels[1].login = [] {
        return credentials{.user = "app", .password = "s3cret"};
    };
    settings.sentinels[2].login = []() -> credentials {
        throw std::runtime_error("s3cret");
    };
    begin();
    open(0);
    BOOST_TEST(sent(0) == "*2\r\n$4\r\nAUTH\r\n$6\r\ns3cret\r\n" + question);
    receive(0, "+OK\r\n");
    BOOST_TEST(connection(0).wants_open());
    receive(0, address("a.example", "6379"));
    open(1);
    BOOST_TEST(sent(1) == "*3\r\n$4\r\nAUTH\r\n$3\r\napp\r\n$6\r\ns3cret\r\n" + question);
    receive(1, "-ERR what is s3cret?\r\n-NOAUTH Authentication required.\r\n");
    BOOST_TEST(!connection(1).wants_open());
    const std::string text = search->why_not().text;
    BOOST_TEST(text.find("s1:26379: it refused the user name or password") != text.npos);
    open(2);
    BOOST_TEST(found == "a.example:6379");
    BOOST_TEST(search->why_not().text.find("s3cret") == std::string::npos);
}

// A sentinel that wants a password, and none was given.
BOOST_AUTO_TEST_CASE(no_login)
{
    search_fixture f(1);
    f.begin();
    f.answer(0, "-NOAUTH Authentication required.\r\n");
    BOOST_TEST((f.why.code == errc::authentication_failed));
}

// Answers that are no addresses, and bytes that are no answers.
BOOST_AUTO_TEST_CASE(wrong_answers)
{
    const std::vector<std::string> answers{"+OK\r\n", "*0\r\n", "*1\r\n$1\r\na\r\n",
        address("", "1"), address("a b", "1"), address("a@b", "1"), address("a/b", "1"),
        address("a\r\nb", "1"), address(std::string(254, 'a'), "1"), address("a", "0"),
        address("a", "65536"), address("a", "-1"), address("a", "x"), address("a", ""),
        "*3\r\n" + blob("a") + blob("1") + blob("b"), "%1\r\n" + blob("a") + blob("1"),
        "HTTP/1.1 400 Bad Request\r\n", "?", ":1\r\n"};
    for (const std::string& bytes : answers) {
        search_fixture f(1);
        f.begin();
        f.answer(0, bytes);
        BOOST_TEST((f.why.code == errc::protocol_error), bytes);
        BOOST_TEST(f.found == "", bytes);
    }
}

// A stream that breaks before the answer; one that ends after it.
BOOST_AUTO_TEST_CASE(broken_streams)
{
    search_fixture f(1);
    f.begin();
    f.open(0);
    f.connection(0).closed(holdfast::asio::error::eof, now);
    BOOST_TEST((f.why.code == holdfast::asio::error::eof));
    f.why = {};
    f.begin();
    f.answer(0, address("a", "1"));
    BOOST_TEST(f.found == "a:1");
    f.connection(0).closed(holdfast::asio::error::eof, now);
    BOOST_TEST(f.why.text == "");
}

// Hostile bytes, however they are split, give an address or a failure of the same kind, and nothing
// that is no host gets out.
BOOST_AUTO_TEST_CASE(hostile_bytes)
{
    std::mt19937 random(7);
    const std::vector<std::string> pieces{"*2\r\n", "*-1\r\n", "$1\r\n", "a", "\r\n", "$4\r\n6379",
        "-ERR ", "-NOAUTH", ">2\r\n", "*99999999\r\n", "$999999999\r\n", "%1\r\n", ":1\r\n", "_",
        std::string(1, '\0'), "\x16\x03", "HTTP/", address("h", "1")};
    for (int round = 0; round < 3000; ++round) {
        std::string bytes;
        for (auto n = random() % 8; n != 0; --n)
            bytes += pieces[random() % pieces.size()];
        search_fixture whole(1), split(1);
        whole.begin();
        whole.answer(0, bytes);
        split.begin();
        split.open(0);
        for (std::size_t i = 0; i < bytes.size() && split.connection(0).wants_open(); ++i)
            split.receive(0, bytes.substr(i, 1));
        BOOST_REQUIRE(whole.found == split.found);
        BOOST_REQUIRE(whole.why.code == split.why.code);
        BOOST_REQUIRE(whole.found.empty() || whole.found.find_first_of(" @/\r\n") == bytes.npos);
        BOOST_REQUIRE(whole.connection(0).wants_open() == split.connection(0).wants_open());
    }
}

BOOST_AUTO_TEST_SUITE_END()
