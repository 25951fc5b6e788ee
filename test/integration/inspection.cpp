// Who holds a lock, and how it is taken away: real servers and processes.
#include "support/call.hpp"
#include "support/child_process.hpp"
#include "support/cluster.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <unistd.h>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(inspection)

std::string host_name()
{
    std::array<char, 256> name{};
    BOOST_REQUIRE(::gethostname(name.data(), name.size()) == 0);
    return name.data();
}

std::size_t records(redis_server& node)
{
    const std::string all = node.command({"KEYS", "holdfast:client:*"});
    return all.empty() ? 0 : static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n')) + 1;
}

task await_records(cluster& c, std::size_t count)
{
    for (auto& node : c.nodes) {
        while (records(node) != count)
            co_await pause(10ms);
    }
}

child_process other_process(const cluster& c, const std::string& resource, const std::string& ttl)
{
    std::vector<std::string> words{HOLDFAST_LOCK_HOLDER, resource, ttl};
    for (const std::string& each : urls(c.nodes))
        words.push_back(each);
    child_process holder(words);
    BOOST_REQUIRE(!holder.read_line().empty()); // it has the lock
    return holder;
}

task see_the_other_process(scene& s, child_process& holder)
{
    const resource_report r = co_await s.locker().inspect(s.resource, asio::use_awaitable);
    BOOST_TEST(r.held);
    BOOST_REQUIRE(r.owner && r.owner->client);
    BOOST_TEST(r.owner->client->pid == static_cast<std::uint32_t>(holder.pid()));
    BOOST_TEST(r.owner->client->host == host_name());
    BOOST_TEST(r.owner->client->program == "lock_holder");
    BOOST_TEST(r.owner->client->client_name == "holdfast");
    BOOST_TEST((r.owner->client->started <= r.owner->since));
    BOOST_TEST((r.ttl_left > 0ms && r.ttl_left <= 10s));
    BOOST_TEST(r.nodes.size() == 3u);
    for (const node_report& each : r.nodes)
        BOOST_TEST((each.key == key_state::owner || each.key == key_state::absent));
    BOOST_TEST(!r.fence);
}

BOOST_AUTO_TEST_CASE(the_lock_of_another_process)
{
    cluster c(3);
    scene s(c.store());
    child_process holder = other_process(c, s.resource, "10000");
    run(s.io, see_the_other_process(s, holder));
    run(s.io, await_records(c, 2)); // its own, and ours
    s.finish();

    // Its record outlives a crash for its ttl, and no longer.
    holder.kill();
    for (auto& node : c.nodes) {
        const std::string key = node.command({"KEYS", "holdfast:client:*"});
        BOOST_TEST(records(node) == 1u); // ours was deleted
        const int left = std::stoi(node.command({"PTTL", key}));
        BOOST_TEST((left > 0 && left <= 60'000));
    }
}

task take_it_away(scene& s, cluster& c, child_process& holder)
{
    const bool everywhere = co_await c.have_copies(s.resource, c.size(), 5s);
    BOOST_REQUIRE(everywhere); // it is not certain otherwise that it is still the holder
    const auto its_pid = static_cast<std::uint32_t>(holder.pid()); // it ends when it is told
    call<lease> waiting;
    s.lock(1).acquire(30s, waiting.token());
    for (bool queued = false; !queued;) { // it waits in the queue
        const resource_report r = co_await s.locker().inspect(s.resource, asio::use_awaitable);
        queued = r.queue.has_value();
        if (queued) {
            BOOST_TEST(r.queue->length == 1u);
            BOOST_REQUIRE(r.queue->waiters.size() == 1u);
            BOOST_TEST(
                r.queue->waiters[0].client.value().pid == static_cast<std::uint32_t>(::getpid()));
        }
    }
    const auto taken = steady::now();
    const forced_release done = co_await s.locker().force_release(s.resource, asio::use_awaitable);
    BOOST_TEST(done.told);
    BOOST_TEST(done.deleted >= 1u); // the holder deletes the other keys, once it is told
    BOOST_TEST(done.owner.value().client.value().pid == its_pid);
    while (!waiting.done())
        co_await pause(1ms);
    BOOST_TEST(!waiting.error(), waiting.error().message());
    BOOST_TEST((steady::now() - taken < 10s)); // its ttl is 60 s, and its renewal is due in 20 s
}

BOOST_AUTO_TEST_CASE(a_lock_is_taken_from_another_process)
{
    cluster c(3);
    scene s(c.store(), 2);
    child_process holder = other_process(c, s.resource, "60000");
    const auto begun = steady::now();
    run(s.io, take_it_away(s, c, holder));
    while (!holder.read_line().empty()) { // it ends when its lease is lost
    }
    BOOST_TEST((steady::now() - begun < 15s));
    holder.kill();
    s.finish();
}

// A lease that is not dropped keeps the connections of the closing locker.
task close_while_taking(scene& s)
{
    lease held = co_await s.lock(0).acquire();
    holdfast::lock other(s.locker(1), s.resource + ":other");
    lease kept = co_await other.acquire();
    call<forced_release> force;
    call<> closed;
    s.locker(1).force_release(s.resource, force.token());
    s.locker(1).close(closed.token());
    while (!force.done())
        co_await pause(1ms);
    co_await pause(200ms);
    BOOST_TEST(force.error() == errc::closed);
    BOOST_TEST(!closed.done());
    BOOST_TEST(held.held());
    const resource_report r = co_await s.locker(0).inspect(s.resource, asio::use_awaitable);
    BOOST_TEST(r.held);
    kept = {};
    while (!closed.done())
        co_await pause(1ms);
    co_await held.release();
}

BOOST_AUTO_TEST_CASE(a_closed_locker_takes_no_lock_away)
{
    cluster c(3);
    scene s(c.store(), 2);
    run(s.io, close_while_taking(s));
    s.finish();
}

task list_many(scene& s, std::size_t count)
{
    const lock_list all = co_await s.locker().list("many:", asio::use_awaitable);
    BOOST_TEST(all.complete);
    BOOST_TEST(all.locks.size() == count);
    const auto held = std::count_if(all.locks.begin(), all.locks.end(),
        [](const listed_lock& each) { return each.held && each.owner && each.owner->client; });
    BOOST_TEST(static_cast<std::size_t>(held) == count);
}

task acquire_some(holdfast::locker& locker, std::size_t first, std::size_t step, std::size_t count,
    std::vector<lease>& held)
{
    lock_options calm;
    calm.ttl = 60s;
    for (std::size_t i = first; i < count; i += step)
        held.push_back(
            co_await holdfast::lock(locker, "many:" + std::to_string(i), calm).acquire());
}

BOOST_AUTO_TEST_CASE(ten_thousand_locks_are_listed)
{
    constexpr std::size_t count = 10'000;
    cluster c(3);
    // Other keys, of all types, beside them.
    c.command({"EVAL",
        "for i=1,5000 do redis.call('set','other'..i,i) redis.call('rpush','many:list'..i,1) "
        "redis.call('set','many:value'..i,i) end",
        "0"});
    scene s(c.store());
    std::vector<lease> held;
    std::vector<task> all;
    for (std::size_t i = 0; i < 20; ++i) // one after the other they would take long
        all.push_back(acquire_some(s.locker(), i, 20, count, held));
    run(s.io, std::move(all));
    run(s.io, list_many(s, count));
    held.clear();
    s.finish();
}

task meet_foreign_keys(scene& s, cluster& c)
{
    c.command({"SET", s.resource, "someone", "PX", "60000"});
    resource_report r = co_await s.locker().inspect(s.resource, asio::use_awaitable);
    BOOST_TEST(r.held);
    BOOST_TEST(r.owner.value().foreign);
    const lock_list all = co_await s.locker().list("test:", asio::use_awaitable);
    BOOST_TEST(all.locks.empty());

    c.command({"SET", s.resource, "someone"});
    r = co_await s.locker().inspect(s.resource, asio::use_awaitable);
    BOOST_TEST(r.without_ttl);
    const forced_release done = co_await s.locker().force_release(s.resource, asio::use_awaitable);
    BOOST_TEST(!done.told);
    BOOST_TEST(done.deleted == 3u);
    lease ours = co_await s.lock(0).acquire(5s);
    BOOST_TEST(ours.held());
    co_await ours.release();

    c.command({"RPUSH", s.resource, "data"});
    const auto [ec, nothing] = co_await s.locker().force_release(s.resource, no_throw);
    BOOST_TEST(ec == errc::key_conflict);
    BOOST_TEST(c.copies(s.resource) == 3u);
}

BOOST_AUTO_TEST_CASE(keys_of_other_clients)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return meet_foreign_keys(s, c); });
}

backend as_user(cluster& c, const std::string& rights)
{
    std::vector<endpoint> nodes;
    for (auto& node : c.nodes) {
        std::vector<std::string> words{
            "ACL", "SETUSER", "worker", "on", ">secret", "+@all", "&*", rights};
        words.insert(words.end(), {"~test:*"});
        BOOST_REQUIRE(node.command(words) == "OK");
        std::string url = node.url();
        nodes.emplace_back(url.insert(url.find("//") + 2, "worker:secret@"));
    }
    return redlock(nodes);
}

task work_without_a_record(scene& s)
{
    lease held = co_await s.lock(0).acquire();
    const resource_report r = co_await s.locker().inspect(s.resource, asio::use_awaitable);
    BOOST_TEST(r.held);
    BOOST_TEST(!r.owner.value().foreign);
    BOOST_TEST(r.owner->id != 0u);
    BOOST_TEST(!r.owner->client);
    BOOST_TEST(describe_nodes(s.locker().stats()) == "");
    const auto [ec, all] = co_await s.locker().list("", no_throw);
    BOOST_TEST(ec == errc::permission_denied);
    co_await held.release();
}

BOOST_AUTO_TEST_CASE(a_user_without_rights_is_shown_by_its_id)
{
    cluster c(3);
    play(as_user(c, "-scan"), 1, [&](scene& s) { return work_without_a_record(s); });
    for (auto& node : c.nodes)
        BOOST_TEST(records(node) == 0u);
}

BOOST_AUTO_TEST_CASE(the_record_can_be_left_out)
{
    cluster c(1);
    redlock_options options;
    options.client_record = false;
    scene s(c.store(500ms, options));
    run(s.io, [](scene& all) -> task {
        lease held = co_await all.lock(0).acquire();
        const resource_report r = co_await all.locker().inspect(all.resource, asio::use_awaitable);
        BOOST_TEST(r.owner.value().id != 0u);
        BOOST_TEST(!r.owner->client);
        co_await held.release();
    }(s));
    BOOST_TEST(records(c.nodes[0]) == 0u);
    s.finish();
}

task see_as_many_records(redis_server& node, std::size_t count)
{
    while (records(node) != count)
        co_await pause(20ms);
}

BOOST_AUTO_TEST_CASE(a_thousand_lockers_have_different_records)
{
    constexpr std::size_t count = 1'000;
    cluster c(1);
    scene s(c.store(), count);
    run(s.io, see_as_many_records(c.nodes[0], count));
    s.finish();
    BOOST_TEST(records(c.nodes[0]) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
