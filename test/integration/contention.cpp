// Several lockers, like separate processes, contend for one resource: the order of their turns, and
// the loss of the queue between them. The ttl is long: a waiter that waited for its end would time
// out.
#include "support/call.hpp"
#include "support/cluster.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>
#include <string>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(contention)

constexpr auto in_time = 10s; // limit for noticing a loss; a fraction of the ttl

lock_options patient()
{
    lock_options options;
    options.ttl = 30s;
    options.wait = 20s;
    return options;
}

std::uint64_t commands(scene& s, std::size_t locker)
{
    std::uint64_t all = 0;
    for (const node_stats& node : s.locker(locker).stats().nodes)
        all += node.commands;
    return all;
}

// Enough for the polls of one waiter during a turn, but fewer than an attempt on five nodes needs:
// five requests and five deletions. A waiter polls once every 32 ms at most. If a poll finds that
// it is the first now, it asks all nodes for the owner, and one for notifications.
std::uint64_t most_polls(steady::time_point began)
{
    return 7u + 3u * static_cast<std::uint64_t>((steady::now() - began) / 32ms);
}

// Waits until a locker sends no more requests: the deletions after an attempt are done.
task becomes_quiet(scene& s, std::size_t locker)
{
    const auto deadline = steady::now() + in_time;
    std::uint64_t before = 0;
    for (std::uint64_t now = 1; now != before && steady::now() < deadline;) {
        before = commands(s, locker);
        co_await pause(20ms);
        now = commands(s, locker);
    }
}

// Acquires the resource at all nodes. A majority is enough for a lease: a waiter that reached the
// last node before the holder would have its key there and no majority, and could lose its place.
task hold_everywhere(scene& s, cluster& c, lease& held)
{
    held = co_await s.lock(0, patient()).acquire();
    const auto deadline = steady::now() + in_time;
    for (auto& node : c.nodes) {
        while (node.command({"EXISTS", s.resource}) != "1" && steady::now() < deadline)
            co_await pause(1ms);
        BOOST_TEST(node.command({"EXISTS", s.resource}) == "1");
    }
}

// Starts a wait of locker `which` and returns when it is in the queue at one of the nodes.
task wait_in_the_queue(scene& s, cluster& c, std::size_t which, call<lease>& wait)
{
    const std::string queue = s.resource + ":holdfast:queue";
    const auto length = [&] { // after a long wait a waiter is in several queues
        std::set<std::string> all;
        for (auto& node : c.nodes) {
            std::istringstream places(node.command({"ZRANGE", queue, "0", "-1"}));
            for (std::string place; std::getline(places, place);)
                all.insert(place);
        }
        return all.size();
    };
    const std::size_t before = length();
    s.lock(which, patient()).acquire(wait.token());
    const auto deadline = steady::now() + in_time;
    while (length() == before && steady::now() < deadline)
        co_await pause(1ms);
    BOOST_TEST(length() == before + 1);
}

task be_granted(call<lease>& wait, steady::duration limit = in_time)
{
    const auto deadline = steady::now() + limit;
    while (!wait.done() && steady::now() < deadline)
        co_await pause(1ms);
    BOOST_REQUIRE(wait.done());
    BOOST_TEST(!wait.error(), wait.error().message());
    BOOST_TEST(wait.result<lease>().held());
}

task becomes_done(const call<lease>& one, const call<lease>& other)
{
    const auto deadline = steady::now() + in_time;
    while (!one.done() && !other.done() && steady::now() < deadline)
        co_await pause(1ms);
}

task take_turns(scene& s, cluster& c)
{
    constexpr std::size_t lockers = 4;
    lease held;
    co_await hold_everywhere(s, c, held);
    std::deque<call<lease>> waits(lockers);
    for (std::size_t i = 1; i < lockers; ++i) {
        co_await wait_in_the_queue(s, c, i, waits[i]);
        co_await becomes_quiet(s, i);
    }
    for (std::size_t i = 1; i < lockers; ++i) {
        std::array<std::uint64_t, lockers> before{};
        for (std::size_t k = 0; k < lockers; ++k)
            before[k] = commands(s, k);
        const auto began = steady::now();
        co_await held.release();
        co_await be_granted(waits[i]);
        for (std::size_t k = i + 1; k < lockers; ++k) {
            BOOST_TEST(!waits[k].done()); // first come, first served
            BOOST_TEST(commands(s, k) - before[k] <= most_polls(began));
        }
        // A turn takes 21 requests, which are listed in unit tests. The two lockers send all of
        // them.
        const auto turn = commands(s, i - 1) - before[i - 1] + commands(s, i) - before[i];
        BOOST_TEST(turn <= 30u + most_polls(began));
        held = std::move(waits[i].result<lease>());
    }
    co_await held.release();
}

BOOST_AUTO_TEST_CASE(a_release_hands_off_to_the_next_process)
{
    cluster c(5);
    play(c.store(), 4, [&](scene& s) { return take_turns(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task lose_the_queue(scene& s, cluster& c)
{
    lease held;
    co_await hold_everywhere(s, c, held);
    call<lease> wait;
    co_await wait_in_the_queue(s, c, 1, wait);
    c.command({"DEL", s.resource + ":holdfast:queue"});
    co_await held.release();
    co_await be_granted(wait);
}

BOOST_AUTO_TEST_CASE(a_lost_queue_costs_time_only)
{
    cluster c(5);
    play(c.store(), 2, [&](scene& s) { return lose_the_queue(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

// Another program overwrites the queue's key. Waiters that came before and after that get the lock
// when it is free.
task lose_the_queue_to_other_data(scene& s, cluster& c, std::string queue)
{
    lease held = co_await s.lock(0, patient()).acquire();
    call<lease> wait, later;
    s.lock(1, patient()).acquire(wait.token());
    const auto deadline = steady::now() + in_time;
    while (c.copies(queue) == 0 && steady::now() < deadline)
        co_await pause(1ms);
    BOOST_TEST(c.copies(queue) != 0u);
    co_await becomes_quiet(s, 1);
    c.command({"SET", queue, "junk"});
    s.lock(2, patient()).acquire(later.token());
    const auto told = [&] {
        const std::string why = describe_nodes(s.locker(2).stats());
        return why.find("the queue " + queue + " cannot be used") != why.npos;
    };
    for (const auto end = steady::now() + in_time; !told() && steady::now() < end;)
        co_await pause(1ms);
    BOOST_TEST(told(), describe_nodes(s.locker(2).stats()));
    co_await held.release();
    co_await becomes_done(wait, later);
    call<lease>& first = wait.done() ? wait : later;
    co_await be_granted(first);
    co_await first.result<lease>().release();
    co_await be_granted(&first == &wait ? later : wait);
}

BOOST_AUTO_TEST_CASE(an_overwritten_queue_costs_time_only)
{
    cluster c(5);
    play(c.store(), 3, [&](scene& s) {
        return lose_the_queue_to_other_data(s, c, s.resource + ":holdfast:queue");
    });
    fencing_options fence;
    fence.first_deployment = true;
    play(c.fenced_store(fence), 3,
        [&](scene& s) { return lose_the_queue_to_other_data(s, c, "hf:q:" + s.resource); });
}

task lose_the_queue_node(scene& s, cluster& c, bool frozen)
{
    lease held;
    co_await hold_everywhere(s, c, held);
    call<lease> wait;
    co_await wait_in_the_queue(s, c, 1, wait);
    for (auto& node : c.nodes) {
        if (node.command({"EXISTS", s.resource + ":holdfast:queue"}) != "1")
            continue;
        frozen ? node.pause() : node.kill();
        break;
    }
    co_await held.release();
    co_await be_granted(wait);
    co_await wait.result<lease>().release();
    for (auto& node : c.nodes) {
        if (frozen)
            node.resume();
    }
}

BOOST_AUTO_TEST_CASE(a_lost_queue_node_costs_time_only)
{
    for (const bool frozen : {false, true}) {
        cluster c(5);
        play(c.store(), 2, [&](scene& s) { return lose_the_queue_node(s, c, frozen); });
    }
}

// Redlock clients that do not use the queue.
task share_with_another_client(scene& s, cluster& c)
{
    c.command({"SET", s.resource, "another client", "NX", "PX", "30000"});
    call<lease> wait;
    co_await wait_in_the_queue(s, c, 0, wait);
    c.command({"DEL", s.resource});
    co_await be_granted(wait);
    const auto refused =
        c.nodes[0].command({"SET", s.resource, "another client", "NX", "PX", "30000"});
    BOOST_TEST(refused == "(nil)");
}

BOOST_AUTO_TEST_CASE(other_clients_and_we_exclude_each_other)
{
    cluster c(5);
    play(c.store(), 1, [&](scene& s) { return share_with_another_client(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task share_without_a_queue(scene& s)
{
    for (int i = 0; i < 5; ++i) {
        lease held = co_await s.lock(0, patient()).acquire();
        call<lease> wait;
        s.lock(1, patient()).acquire(wait.token());
        co_await pause(20ms);
        co_await held.release();
        co_await be_granted(wait);
        co_await wait.result<lease>().release();
    }
}

// A store that logs in at the nodes as a user with these rights only.
backend as_user(cluster& c, std::vector<std::string> rights)
{
    std::vector<endpoint> nodes;
    std::vector<std::string> command{"ACL", "SETUSER", "worker", "on", ">secret", "~test:*"};
    command.insert(command.end(), rights.begin(), rights.end());
    for (auto& node : c.nodes) {
        BOOST_REQUIRE(node.command(command) == "OK");
        std::string url = node.url();
        nodes.emplace_back(url.insert(url.find("//") + 2, "worker:secret@"));
    }
    return redlock(nodes);
}

BOOST_AUTO_TEST_CASE(locks_work_without_a_queue)
{
    cluster c(3);
    const std::vector<std::string> rights{"-@all", "+hello", "+auth", "+client|setname", "+info",
        "+role", "+select", "+script|load", "+evalsha", "+eval", "+get", "+set", "+del", "+pexpire",
        "+pttl", "+type"};
    play(as_user(c, rights), 2, [](scene& s) { return share_without_a_queue(s); });
    BOOST_TEST(c.empty_within(0s));
}

// The rights that docs/operation.md lists after the keys.
std::vector<std::string> documented_rights()
{
    std::ifstream document(HOLDFAST_SOURCE_DIR "/docs/operation.md");
    std::string word;
    while (document >> word && word != "~stock:*") {
    }
    std::vector<std::string> rights;
    while (document >> word && word != "```")
        rights.push_back(word);
    return rights;
}

task use_everything(scene& s, cluster& c)
{
    lease held;
    co_await hold_everywhere(s, c, held);
    call<lease> first, second;
    co_await wait_in_the_queue(s, c, 1, first);
    co_await wait_in_the_queue(s, c, 2, second);
    // The waiter asks the queue node for the first waiter, and for notifications of changes. The
    // holder renews.
    const auto told = [&] {
        return std::any_of(c.nodes.begin(), c.nodes.end(), [](auto& node) {
            return node.command({"INFO", "clients"}).find("tracking_clients:0") ==
                   std::string::npos;
        });
    };
    const auto deadline = steady::now() + in_time;
    while (!told() && steady::now() < deadline)
        co_await pause(1ms);
    BOOST_TEST(told());
    co_await pause(200ms);
    co_await held.extend();
    co_await held.release();
    co_await be_granted(first);
    co_await first.result<lease>().release();
    co_await be_granted(second);

    // A transfer: the locker asks in advance whether other processes wait.
    lock_options brief = patient();
    brief.handoff_limit = 1;
    call<lease> third;
    s.lock(2, brief).acquire(third.token());
    co_await second.result<lease>().release();
    co_await be_granted(third);
    const auto seen = co_await s.locker().inspect(s.resource, asio::use_awaitable);
    BOOST_TEST(seen.owner.value().client.has_value());
    const auto all = co_await s.locker().list("test:", asio::use_awaitable);
    BOOST_TEST(all.locks.size() == 1u);
    const bool everywhere = co_await c.have_copies(s.resource, c.size(), in_time);
    BOOST_TEST(everywhere);
    const auto taken = co_await s.locker().force_release(s.resource, asio::use_awaitable);
    BOOST_TEST(taken.told);
    co_await third.result<lease>().release();
}

// No node may have refused a command for lack of rights. The rights for the library's name are
// optional.
BOOST_AUTO_TEST_CASE(the_documents_list_all_necessary_rights)
{
    cluster c(3);
    const auto rights = documented_rights();
    BOOST_REQUIRE(rights.size() > 20u);
    play(as_user(c, rights), 3, [&](scene& s) { return use_everything(s, c); });
    for (auto& node : c.nodes) {
        std::string denied = node.command({"ACL", "LOG"});
        BOOST_TEST(denied == "");
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
