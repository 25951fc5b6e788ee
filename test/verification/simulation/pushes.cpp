// A push of a server has the delay and the fate of the stream that it is sent on.
#include "support/redis_client.hpp"
#include "verification/simulation/network.hpp"
#include "verification/simulation/referee.hpp"
#include "verification/simulation/server.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace holdfast::simulation;
using namespace std::chrono_literals;
using holdfast::test::encode_command;

struct client final : caller {
    bool asleep = false;
    std::map<stream_id, std::string> heard;
    std::map<stream_id, nanoseconds> last_heard;
    schedule* time = nullptr;

    bool frozen() const noexcept override { return asleep; }
    void on_open(stream_id) override {}
    void on_bytes(stream_id s, std::string_view bytes) override
    {
        heard[s] += bytes;
        last_heard[s] = time->now();
    }
    void on_broken(stream_id s, breakage) override { heard[s] += "broken"; }
    void on_writable(stream_id) override {}
};

struct fixture {
    schedule time;
    dice chance{1};
    network net{time, chance};
    referee judge{time};
    server node{0, time, net, judge, wall_clock(1'000'000ms, 0), 1};
    client here, there;

    fixture()
    {
        here.time = there.time = &time;
        net.add(node);
        net.add(here);
        net.add(there);
    }

    void pass(nanoseconds t)
    {
        time.run_until(time.now() + t, [] { return false; });
    }

    // Opens a stream and sends these commands.
    stream_id open(std::size_t from, const std::vector<std::vector<std::string>>& commands)
    {
        const stream_id s = net.open(from, 0);
        pass(10ms);
        for (const auto& command : commands)
            net.send(s, encode_command(command));
        pass(10ms);
        return s;
    }

    std::string publish(const std::string& message)
    {
        const stream_id s = open(0, {{"PUBLISH", "one", message}});
        return here.heard[s];
    }

    static inline const std::vector<std::string> hello{"HELLO", "3"}, subscribe{"SUBSCRIBE", "one"};
};

std::string message(const std::string& text)
{
    return ">3\r\n$7\r\nmessage\r\n$3\r\none\r\n$" + std::to_string(text.size()) + "\r\n" + text +
           "\r\n";
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(pushes, fixture)

BOOST_AUTO_TEST_CASE(a_message_has_the_delay_of_its_route_and_overtakes_no_earlier_bytes)
{
    const stream_id s = open(1, {hello, subscribe});
    there.heard.clear();
    net.between(1, 0).shortest = net.between(1, 0).longest = 50ms; // each way
    net.send(s, encode_command({"PING"}));
    pass(60ms); // the answer is under way
    net.between(1, 0).shortest = net.between(1, 0).longest = 1ms;
    BOOST_TEST(publish("x") == ":1\r\n");
    BOOST_TEST(there.heard[s] == "");
    pass(100ms);
    BOOST_TEST(there.heard[s] == "+PONG\r\n" + message("x"));
    net.between(1, 0).shortest = net.between(1, 0).longest = 50ms;
    const nanoseconds said = time.now();
    publish("y");
    pass(100ms);
    BOOST_TEST(there.heard[s].ends_with(message("y")));
    BOOST_TEST((there.last_heard[s] - said).count() > nanoseconds(50ms).count());
}

BOOST_AUTO_TEST_CASE(a_frozen_server_sends_no_push_until_it_thaws)
{
    const stream_id s = open(1, {hello, subscribe, {"CLIENT", "TRACKING", "ON"},
                                    {"SET", "key", "x", "PX", "100"}, {"GET", "key"}});
    there.heard.clear();
    node.freeze();
    publish("x");
    pass(1s);
    node.expire();
    pass(1s);
    BOOST_TEST(there.heard[s] == "");
    node.thaw();
    pass(1s);
    BOOST_TEST(there.heard[s] == message("x"));
    node.expire();
    pass(1s);
    BOOST_TEST(there.heard[s].ends_with(">2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\nkey\r\n"));
}

BOOST_AUTO_TEST_CASE(a_closed_subscriber_counts_until_the_server_sees_the_close)
{
    const stream_id s = open(1, {hello, subscribe});
    there.heard.clear();
    net.between(1, 0).lost_out = true;
    net.close(s, false);
    BOOST_TEST(publish("x") == ":1\r\n");
    net.between(1, 0).lost_out = false;
    net.retry();
    pass(1s);
    BOOST_TEST(publish("y") == ":0\r\n");
    BOOST_TEST(there.heard[s] == "");
}

// The server finds out when it sends bytes and the client's host answers with a reset.
BOOST_AUTO_TEST_CASE(a_subscriber_that_gave_up_counts_until_the_server_sends_to_it)
{
    const stream_id s = open(1, {hello, subscribe});
    there.heard.clear();
    net.between(1, 0).lost_out = true;
    net.send(s, encode_command({"PING"}));
    pass(10s);
    BOOST_TEST(there.heard[s] == "broken");
    net.between(1, 0).lost_out = false;
    net.retry();
    pass(1s);
    BOOST_TEST(publish("x") == ":1\r\n");
    BOOST_TEST(publish("y") == ":0\r\n");
    BOOST_TEST(there.heard[s] == "broken");
}

BOOST_AUTO_TEST_CASE(a_cut_or_crashed_subscription_receives_no_push)
{
    const stream_id cut = open(1, {hello, subscribe});
    net.cut(cut);
    BOOST_TEST(publish("x") == ":0\r\n");
    const stream_id crashed = open(1, {hello, subscribe});
    node.crash(true);
    node.restart(server::memory::everything);
    there.heard.clear();
    BOOST_TEST(publish("x") == ":0\r\n");
    const stream_id alive = open(1, {hello, subscribe});
    there.heard.clear();
    BOOST_TEST(publish("y") == ":1\r\n");
    pass(1s);
    BOOST_TEST(there.heard[alive] == message("y"));
    BOOST_TEST(there.heard[crashed] == "");
}

BOOST_AUTO_TEST_CASE(a_frozen_client_receives_a_push_when_it_goes_on)
{
    const stream_id s = open(1, {hello, subscribe});
    there.heard.clear();
    there.asleep = true;
    BOOST_TEST(publish("x") == ":1\r\n");
    pass(1s);
    BOOST_TEST(there.heard[s] == "");
    there.asleep = false;
    net.retry();
    pass(1s);
    BOOST_TEST(there.heard[s] == message("x"));
}

BOOST_AUTO_TEST_SUITE_END()
