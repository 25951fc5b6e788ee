// Work in a simulated world takes the time configured for it, and jobs of a thread run one by one.
#include "support/redis_client.hpp"
#include "verification/simulation/network.hpp"
#include "verification/simulation/processor.hpp"
#include "verification/simulation/referee.hpp"
#include "verification/simulation/server.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace holdfast::simulation;
using namespace std::chrono_literals;
using holdfast::test::encode_command;

std::string some_pings(int n)
{
    std::string all;
    for (int i = 0; i < n; ++i)
        all += encode_command({"PING"});
    return all;
}

struct client final : caller {
    explicit client(schedule& t) : time(t) {}

    bool frozen() const noexcept override { return false; }
    void on_open(stream_id) override {}
    void on_bytes(stream_id s, std::string_view bytes) override
    {
        replies[s] += std::count(bytes.begin(), bytes.end(), '\n');
        last = time.now();
    }
    void on_broken(stream_id, breakage) override {}
    void on_writable(stream_id) override { writable = true; }

    schedule& time;
    std::map<stream_id, std::ptrdiff_t> replies;
    nanoseconds last{0};
    bool writable = false;
};

struct fixture {
    schedule time;
    dice chance{1};
    network net{time, chance};
    referee judge{time};
    server node{0, time, net, judge, wall_clock(1'000'000ms, 0), 1};
    client here{time};

    fixture()
    {
        net.add(node);
        net.add(here);
        net.between(0, 0).shortest = net.between(0, 0).longest = 0ns;
    }

    void pass(nanoseconds t)
    {
        time.run_until(time.now() + t, [] { return false; });
    }

    stream_id open()
    {
        const stream_id s = net.open(0, 0);
        pass(1ms);
        return s;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(costs, fixture)

BOOST_AUTO_TEST_CASE(n_commands_take_n_times_as_long_as_one)
{
    node.work_costs({.command = 10us});
    const stream_id s = open();
    const nanoseconds began = time.now();
    net.send(s, some_pings(100));
    pass(1s);
    BOOST_TEST(here.replies[s] == 100);
    BOOST_TEST((here.last - began).count() == nanoseconds(1ms).count());
}

BOOST_AUTO_TEST_CASE(a_script_takes_as_long_as_several_commands)
{
    node.work_costs({.command = 10us});
    const stream_id s = open();
    const nanoseconds began = time.now();
    net.send(s, encode_command({"EVALSHA", std::string(40, 'a'), "0"}));
    pass(1s);
    BOOST_TEST((here.last - began).count() == nanoseconds(40us).count());
}

BOOST_AUTO_TEST_CASE(bytes_take_time)
{
    node.work_costs({.kilobyte = 1ms});
    const stream_id s = open();
    const nanoseconds began = time.now();
    net.send(s, encode_command({"PING", std::string(10'000, 'x')}));
    pass(1s);
    BOOST_TEST((here.last - began) > 9ms);
    BOOST_TEST((here.last - began) < 11ms);
}

BOOST_AUTO_TEST_CASE(a_node_without_costs_answers_at_once)
{
    const stream_id s = open();
    const nanoseconds began = time.now();
    net.send(s, some_pings(100));
    pass(1s);
    BOOST_TEST((here.last - began).count() == 0);
}

BOOST_AUTO_TEST_CASE(connections_take_turns)
{
    node.work_costs({.command = 1ms, .reads_at_once = some_pings(10).size()});
    const stream_id much = open(), little = open();
    net.send(much, some_pings(1000));
    net.send(little, some_pings(1));
    pass(25ms); // the first connection was in line again when the second one sent its command
    BOOST_TEST(here.replies[little] == 1);
    BOOST_TEST(here.replies[much] == 20);
    pass(2s);
    BOOST_TEST(here.replies[much] == 1000);
}

BOOST_AUTO_TEST_CASE(bytes_sent_before_a_close_are_still_read)
{
    node.work_costs({.command = 1ms, .reads_at_once = 100});
    const stream_id s = open();
    net.send(s, encode_command({"SET", "one", "x"}) + some_pings(50) +
                    encode_command({"SET", "other", "x"}));
    net.close(s, true);
    pass(1s);
    BOOST_TEST(node.keys() == 2u);
}

BOOST_AUTO_TEST_CASE(a_frozen_node_accepts_only_as_many_bytes_as_the_buffers_hold)
{
    net.hold_at_most(1000);
    const stream_id s = open();
    node.freeze();
    BOOST_TEST(net.send(s, std::string(600, ' ')) == 600u);
    BOOST_TEST(net.send(s, std::string(600, ' ')) == 400u);
    BOOST_TEST(net.send(s, std::string(600, ' ')) == 0u);
    pass(1s);
    BOOST_TEST(!here.writable);
    node.thaw();
    pass(1s);
    BOOST_TEST(here.writable);
    BOOST_TEST(net.send(s, std::string(600, ' ')) == 600u);
}

BOOST_AUTO_TEST_CASE(jobs_wait_while_a_thread_is_busy_or_stopped)
{
    processor thread(time);
    std::vector<nanoseconds> done;
    const auto job = [&] {
        done.push_back(time.now());
        thread.spend(10ms);
    };
    const nanoseconds began = time.now();
    thread.run(job);
    thread.run(job);
    thread.run(job);
    pass(5ms);
    thread.stand_still();
    pass(100ms);
    BOOST_TEST(done.size() == 1u);
    thread.go_on();
    pass(100ms);
    BOOST_REQUIRE(done.size() == 3u);
    BOOST_TEST((done[1] - began).count() == nanoseconds(110ms).count());
    BOOST_TEST((done[2] - began).count() == nanoseconds(120ms).count());
    BOOST_TEST(thread.longest_wait().count() == nanoseconds(15ms).count());
}

BOOST_AUTO_TEST_CASE(a_process_that_ends_forgets_its_jobs)
{
    processor thread(time);
    int done = 0;
    const auto job = [&] {
        ++done;
        thread.spend(10ms);
    };
    thread.run(job);
    thread.run(job);
    thread.forget_all();
    thread.run(job); // of the next process; runs at once
    BOOST_TEST(done == 2);
    pass(1s);
    BOOST_TEST(done == 2);
}

BOOST_AUTO_TEST_SUITE_END()
