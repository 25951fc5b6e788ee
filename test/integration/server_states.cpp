// Servers that run but do not work as usual: each state on a minority and on a majority of the
// nodes, while processes contend.
#include "integration/scenarios.hpp"

#include <boost/test/data/test_case.hpp>

#include <sys/resource.h>

#include <csignal>
#include <ostream>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(server_states)

struct state {
    const char* name;
    errc failure; // of waiters while a majority is in this state
    action begin, end;
    std::vector<std::string> arguments{};
    friend std::ostream& operator<<(std::ostream& out, const state& s) { return out << s.name; }
};

// Returns when the server answers again.
void wait_for_answer(redis_server& node)
{
    node.command({"PING"}, 20s);
}

action say(std::vector<std::string> words)
{
    return [words](redis_server& node) {
        BOOST_REQUIRE(node.command(words) == "OK");
    };
}

// Limits the size of the server's files, as if the disk were full.
void limit_files(redis_server& node, rlim_t size)
{
    rlimit limit{};
    BOOST_REQUIRE(::prlimit(node.pid(), RLIMIT_FSIZE, nullptr, &limit) == 0);
    limit.rlim_cur = std::min(size, limit.rlim_max);
    BOOST_REQUIRE(::prlimit(node.pid(), RLIMIT_FSIZE, &limit, nullptr) == 0);
}

void fill_disk(redis_server& node)
{
    limit_files(node, 0);
    // The server notices this at the next write to the file, which needs a command that writes.
    const auto deadline = steady::now() + 5s;
    while (node.command({"SET", "other", "1", "PX", "1"}).find("MISCONF") == std::string::npos)
        BOOST_REQUIRE(steady::now() < deadline);
}

void empty_disk(redis_server& node)
{
    limit_files(node, RLIM_INFINITY);
    const auto deadline = steady::now() + 5s; // the server tries again once a second
    while (node.command({"SET", "other", "1", "PX", "1"}) != "OK") {
        BOOST_REQUIRE(steady::now() < deadline);
        std::this_thread::sleep_for(5ms);
    }
}

// A replica of a server that does not exist. It keeps its data and refuses writes. When it is
// promoted again, it has been away for longer than a ttl.
void become_replica(redis_server& node)
{
    BOOST_REQUIRE(node.command({"REPLICAOF", "127.0.0.1", "1"}) == "OK");
}

const std::vector<state> all_states{
    {"stopped (SIGSTOP)", errc::unreachable, [](redis_server& node) { node.pause(); },
        [](redis_server& node) {
            node.resume();
        }},
    {"CLIENT PAUSE ALL", errc::unreachable, say({"CLIENT", "PAUSE", "8000", "ALL"}),
        wait_for_answer},
    {"CLIENT PAUSE WRITE", errc::unreachable, say({"CLIENT", "PAUSE", "60000", "WRITE"}),
        say({"CLIENT", "UNPAUSE"})},
    {"REPLICAOF", errc::misconfigured_node, become_replica, say({"REPLICAOF", "NO", "ONE"})},
    {"unwritable AOF", errc::unreachable, fill_disk, empty_disk, {"--appendonly", "yes"}},
};

// A server that cannot write a file must get an error, not the signal that would end it.
class file_size_signal_ignored {
public:
    file_size_signal_ignored() : before_(std::signal(SIGXFSZ, SIG_IGN)) {}
    file_size_signal_ignored(const file_size_signal_ignored&) = delete;
    file_size_signal_ignored& operator=(const file_size_signal_ignored&) = delete;
    ~file_size_signal_ignored() { std::signal(SIGXFSZ, before_); }

private:
    void (*before_)(int);
};

struct fixture : contended_cluster {
    void start(const std::vector<std::string>& arguments = {})
    {
        const file_size_signal_ignored by_the_servers;
        contended_cluster::start(arguments);
    }
};

BOOST_DATA_TEST_CASE_F(fixture, a_minority_does_not_matter, all_states, each)
{
    start(each.arguments);
    expect_no_harm(workers, on(1, each.begin, each.end));
    finish();
}

BOOST_DATA_TEST_CASE_F(fixture, a_majority_ends_leases_in_time_and_recovers, all_states, each)
{
    start(each.arguments);
    expect_standstill(workers, on(2, each.begin, each.end), each.failure);
    finish();
}

BOOST_FIXTURE_TEST_CASE(out_of_memory_on_a_minority_does_not_matter, fixture)
{
    start();
    expect_no_harm(workers,
        on(1, say({"CONFIG", "SET", "maxmemory", "1"}), say({"CONFIG", "SET", "maxmemory", "0"})));
    finish();
}

BOOST_FIXTURE_TEST_CASE(out_of_memory_on_all_nodes_grants_nothing_and_keeps_leases, fixture)
{
    start();
    workers.wait_for_holds(5);
    worker& holder = workers.wait_for_holder();
    nodes->command({"CONFIG", "SET", "maxmemory", "1"});
    workers.wait_for_failure(errc::unreachable);
    const auto stopped = steady::now();
    workers.wait_for_renewals(holder, 3 * job{}.ttl / 2);
    const auto recovery = steady::now();
    nodes->command({"CONFIG", "SET", "maxmemory", "0"});
    workers.wait_for_holds(5);
    for (const auto& each : workers.holds("short"))
        BOOST_TEST((each.from < stopped || each.from > recovery));
    finish();
}

BOOST_FIXTURE_TEST_CASE(lost_scripts_do_not_matter, fixture)
{
    start();
    expect_no_harm(workers, {[] {}, [] {}, on_each(3, say({"SCRIPT", "FLUSH"}))});
    finish();
}

BOOST_FIXTURE_TEST_CASE(killed_connections_do_not_matter, fixture)
{
    start();
    const auto kill_all = on_each(3, [](redis_server& node) {
        node.command({"CLIENT", "KILL", "TYPE", "pubsub"});
    });
    expect_no_harm(workers, {kill_all, kill_all, kill_all});
    finish();
}

// Uses only workers that keep their lease: no other client may have a vote of the node that loses
// its data.
BOOST_AUTO_TEST_CASE(a_lease_survives_the_loss_of_all_data_on_a_minority)
{
    cluster nodes(3);
    team workers;
    workers.add(long_job(), urls(nodes.nodes));
    worker& holder = workers.wait_for_holder();
    const auto on_all_nodes = [&] {
        return nodes.copies("long") == nodes.size();
    };
    workers.wait_until("the key on all nodes", on_all_nodes);
    for (int i = 0; i < 2; ++i)
        workers.add(long_job(), urls(nodes.nodes));
    nodes.command({"FLUSHALL"}, 1);
    workers.wait_for_renewals(holder, 3 * job{}.ttl / 2);
    workers.wait_until("the key on all nodes", on_all_nodes);
    workers.finish();
    expect_nothing_left(nodes);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
