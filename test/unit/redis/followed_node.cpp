// A node whose address sentinels know, with scripted bytes.
#include "redis/node/node_session.hpp"

#include "support/session_fixture.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <cstring>
#include <string>
#include <utility>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
namespace core = holdfast::core;

namespace {

node_settings followed(std::size_t sentinels = 1)
{
    auto known = std::make_shared<sentinel_settings>();
    known->service = "mymaster";
    known->sentinels.assign(
        sentinels, {.where = {.host = "s", .port = 26379, .path = {}}, .name = "s"});
    node_settings settings = session_settings();
    settings.where = {};
    settings.name = "mymaster";
    settings.sentinels = std::move(known);
    return settings;
}

// A session with the test as its network and owner.
struct followed_fixture : session_owner {
    std::string heard;
    node_settings settings;
    core::wake_time wakes;
    node_session session{0, settings, *this, wakes, 1};
    core::connection& node = session.connection();
    core::connection& sentinel = *session.connection().address().sentinels()[0];
    core::time_point now = start;

    explicit followed_fixture(std::size_t sentinels = 1) : settings(followed(sentinels)) {}

    std::string admit(std::size_t) override { return {}; }
    void on_ready(std::size_t, core::time_point) override { heard += "ready "; }
    void on_push(std::size_t, reply, core::time_point) override {}
    void on_reply(std::size_t, const request& r, reply answer, core::time_point) override
    {
        heard += std::to_string(r.reference) + "=" + std::string(answer.front().text) + " ";
    }
    bool say_again(std::size_t, const request&, core::time_point) override { return false; }
    void on_sent_late(std::size_t, const request&, core::time_point) override {}
    void on_orphaned(std::size_t, const request& r, core::time_point) override
    {
        heard += std::to_string(r.reference) + "? ";
    }
    void on_down(std::size_t, core::time_point) override { heard += "down "; }

    void receive(core::connection& from, const std::string& bytes)
    {
        from.written(from.output().size(), now);
        const std::span<char> space = from.read_space();
        std::memcpy(space.data(), bytes.data(), bytes.size());
        from.received(bytes.size(), now);
    }
    void wake()
    {
        while (session.wake_at() <= now)
            session.wake(now);
    }
    void wake_until(core::time_point end)
    {
        while (session.wake_at() <= end) {
            now = std::max(now, session.wake_at());
            session.wake(now);
        }
        now = end;
    }
    // Until the sentinels are asked, whatever the pause is.
    void begin_search()
    {
        while (!sentinel.wants_open()) {
            BOOST_REQUIRE(session.wake_at() != core::never);
            now = std::max(now, session.wake_at());
            session.wake(now);
        }
    }
    void name(const std::string& host)
    {
        begin_search();
        BOOST_TEST(!node.wants_open());
        sentinel.opened(now);
        receive(sentinel,
            "*2\r\n$" + std::to_string(host.size()) + "\r\n" + host + "\r\n$4\r\n6379\r\n");
        sentinel.closed(holdfast::asio::error::operation_aborted, now);
    }
    void greet()
    {
        node.opened(now);
        receive(node, hello_answer);
        receive(node, greeting_answers());
        node.written(node.output().size(), now);
    }
    void connect(const std::string& host)
    {
        name(host);
        BOOST_REQUIRE(node.wants_open());
        BOOST_TEST(node.target().host == host);
        greet();
        BOOST_REQUIRE((session.now() == reachability::ready));
        heard.clear();
    }
    void send(std::uint64_t reference)
    {
        session.send("x", {.reference = reference, .sent = now});
        node.written(node.output().size(), now);
    }
    std::string told() { return std::exchange(heard, {}); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redis_followed_node, followed_fixture)

// Nothing is opened before a sentinel has named the address.
BOOST_AUTO_TEST_CASE(finds_and_connects)
{
    wake();
    BOOST_TEST(sentinel.wants_open());
    BOOST_TEST(!node.wants_open());
    BOOST_TEST((session.now() == reachability::soon));
    BOOST_TEST(session.stats().reason == "no sentinel has named the primary yet");
    BOOST_TEST(session.stats().address == "mymaster");
    now += 1s;
    name("10.0.0.1");
    BOOST_TEST(node.target().port == 6379);
    BOOST_TEST((node.opening_ends() == now + 2s)); // not shortened by the search
    greet();
    BOOST_TEST(told() == "ready ");
    BOOST_TEST(session.stats().address == "mymaster at 10.0.0.1:6379");
    BOOST_TEST(!sentinel.wants_open());
}

// A node that has become a replica has not refused: its requests have no answer, and the next
// primary is asked.
BOOST_AUTO_TEST_CASE(demoted_and_followed)
{
    connect("10.0.0.1");
    now += 1s;
    send(1);
    send(2);
    receive(node, "-READONLY You can't write against a read only replica.\r\n:1\r\n");
    BOOST_TEST(told() == "1? 2? down ");
    BOOST_TEST(!node.wants_open());
    BOOST_TEST((session.stats().last_error == errc::node_error));
    node.closed(holdfast::asio::error::operation_aborted, now);
    connect("10.0.0.2");
    BOOST_TEST(session.stats().address == "mymaster at 10.0.0.2:6379");
    BOOST_TEST(session.stats().name == "mymaster");
    BOOST_TEST(!session.stats().last_error);
}

// An old version puts its own text before the error of a command in a script.
BOOST_AUTO_TEST_CASE(demoted_in_a_script)
{
    connect("10.0.0.1");
    send(1);
    receive(node, "-ERR Error running script (call to f_1): @user_script:1: -READONLY You can't "
                  "write against a read only replica.\r\n");
    BOOST_TEST(told() == "1? down ");
}

// A fixed node that has become a replica is a mistake that a person must correct.
BOOST_AUTO_TEST_CASE(a_fixed_node_is_not_followed)
{
    session_fixture fixed;
    fixed.connect();
    fixed.send(1);
    fixed.receive("-READONLY You can't write against a read only replica.\r\n");
    BOOST_TEST(fixed.told().starts_with("1=READONLY"));
    BOOST_TEST((fixed.session.stats().last_error == errc::misconfigured_node));
}

// After a break, the sentinels are asked again at once.
BOOST_AUTO_TEST_CASE(broken_and_followed)
{
    connect("10.0.0.1");
    now += 1s;
    node.closed(holdfast::asio::error::connection_reset, now);
    BOOST_TEST(sentinel.wants_open());
    BOOST_TEST((session.now() == reachability::soon));
    connect("10.0.0.2");
}

// A sentinel names a replica: that is no mistake of a person, and soon they are asked again.
BOOST_AUTO_TEST_CASE(wrong_role)
{
    name("10.0.0.1");
    node.opened(now);
    receive(node, "%1\r\n+role\r\n+slave\r\n");
    BOOST_TEST(!node.wants_open());
    BOOST_TEST((session.stats().last_error == errc::node_error));
    BOOST_TEST(session.stats().reason == "the node is a slave, not a primary");
    node.closed(holdfast::asio::error::operation_aborted, now);
    const core::time_point before = now;
    connect("10.0.0.2");
    BOOST_TEST((now - before <= 50ms));
}

// A search without an answer ends with the connect timeout, and is repeated after a pause.
BOOST_AUTO_TEST_CASE(no_answer)
{
    wake();
    sentinel.opened(now);
    wake_until(at(2s - 1ns));
    BOOST_TEST(told() == "");
    BOOST_TEST(sentinel.wants_open());
    wake_until(at(2s));
    BOOST_TEST(told() == "down ");
    BOOST_TEST((session.stats().last_error == errc::no_reply));
    BOOST_TEST(session.stats().reason == "no sentinel has named the primary of mymaster: s: no "
                                         "answer");
    BOOST_TEST(!sentinel.wants_open());
    sentinel.closed(holdfast::asio::error::operation_aborted, now);
    connect("10.0.0.1");
}

// No sentinel has answered when a quarter of the time is over, and two are not connected. The late
// answer of the third is used at once.
BOOST_AUTO_TEST_CASE(late_single_answer)
{
    followed_fixture f(3);
    f.wake();
    f.wake_until(at(700ms));
    BOOST_TEST(f.sentinel.wants_open());
    f.name("10.0.0.1");
    BOOST_TEST(f.node.wants_open());
    BOOST_TEST(f.node.target().host == "10.0.0.1");
}

// A late answer waits for a sentinel that is connected, until that one fails.
BOOST_AUTO_TEST_CASE(late_answer_and_failure)
{
    followed_fixture f(3);
    core::connection& slow = *f.session.connection().address().sentinels()[1];
    f.wake();
    slow.opened(f.now);
    f.wake_until(at(700ms));
    f.name("10.0.0.1");
    BOOST_TEST(!f.node.wants_open());
    f.now = at(800ms);
    slow.closed(holdfast::asio::error::connection_reset, f.now);
    BOOST_TEST(f.node.wants_open());
}

// A sentinel that answers at once is not used while two others are connected, until the end.
BOOST_AUTO_TEST_CASE(early_single_answer)
{
    followed_fixture f(3);
    f.wake();
    f.session.connection().address().sentinels()[1]->opened(f.now);
    f.session.connection().address().sentinels()[2]->opened(f.now);
    f.name("10.0.0.9");
    f.wake_until(at(2s - 1ns));
    BOOST_TEST(!f.node.wants_open());
    f.wake_until(at(2s));
    BOOST_TEST(f.node.wants_open());
    BOOST_TEST(f.node.target().host == "10.0.0.9");
}

// Sentinels that fail at once are asked again after growing pauses, never in a tight loop.
BOOST_AUTO_TEST_CASE(refused_searches)
{
    core::duration longest{};
    for (int i = 0; i < 30; ++i) {
        const core::time_point before = now;
        begin_search();
        longest = std::max(longest, now - before);
        sentinel.closed(holdfast::asio::error::connection_refused, now);
    }
    BOOST_TEST((longest > 1s));
    BOOST_TEST((now > at(10s)));
    connect("10.0.0.1");
}

// The address of a node with its own login is known to the program.
BOOST_AUTO_TEST_CASE(login_with_the_address)
{
    std::string asked;
    node_settings own = followed();
    own.login = [&asked](const core::address& where) {
        asked = in_words(where);
        return holdfast::credentials{};
    };
    settings = own;
    node_session other(0, own, *this, wakes, 1);
    other.wake(now);
    core::connection& its = *other.connection().address().sentinels()[0];
    its.opened(now);
    receive(its, "*2\r\n$3\r\n::1\r\n$4\r\n6379\r\n");
    BOOST_TEST(other.connection().wants_open());
    other.connection().opened(now);
    BOOST_TEST(asked == "[::1]:6379");
}

// Nothing is asked or opened after the end, wherever it comes.
BOOST_AUTO_TEST_CASE(shut)
{
    for (int stage = 0; stage < 4; ++stage) {
        followed_fixture f;
        if (stage >= 1)
            f.begin_search();
        if (stage >= 2)
            f.name("10.0.0.1");
        if (stage >= 3)
            f.greet();
        f.session.shut(f.now);
        BOOST_TEST(!f.sentinel.wants_open());
        BOOST_TEST(!f.node.wants_open());
        BOOST_TEST((f.session.wake_at() == core::never));
    }
}

BOOST_AUTO_TEST_SUITE_END()
