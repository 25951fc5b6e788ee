// Leases with fencing tokens, on real nodes: tokens only increase, for all holders and even when
// nodes lose data. Errors are reported where no token is possible.
#include "redis/dialect/fenced_calls.hpp"
#include "redis/quorum/rendezvous.hpp"
#include "support/call.hpp"
#include "support/cluster.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(fencing_tokens)

// Options for new nodes.
fencing_options new_nodes()
{
    fencing_options fence;
    fence.first_deployment = true;
    return fence;
}

// The store that the lock protects. It refuses a token that is not larger than all earlier ones.
struct fenced_store {
    std::uint64_t largest = 0;
    std::size_t writes = 0;

    void write(const lease& held)
    {
        BOOST_REQUIRE(held.fence().has_value());
        BOOST_TEST(*held.fence() > largest);
        largest = std::max(largest, *held.fence());
        ++writes;
    }
};

lock_options patient()
{
    lock_options options;
    options.ttl = 20s;
    options.wait = 30s;
    return options;
}

task write_often(scene& s, std::size_t which, fenced_store& store, int times)
{
    for (int i = 0; i < times; ++i) {
        lease held = co_await s.lock(which, patient()).acquire();
        store.write(held);
        co_await held.release();
    }
}

// With two coroutines per locker, leases are also transferred within the process.
BOOST_AUTO_TEST_CASE(every_lease_has_a_larger_token_than_earlier_ones)
{
    constexpr std::size_t lockers = 4;
    constexpr int times = 50;
    cluster c(5);
    scene s(c.fenced_store(new_nodes()), lockers);
    fenced_store store;
    std::vector<task> all;
    for (std::size_t i = 0; i < 2 * lockers; ++i)
        all.push_back(write_often(s, i / 2, store, times));
    run(s.io, std::move(all));
    BOOST_TEST(store.writes == 2 * lockers * times);
    std::uint64_t handed_over = 0;
    for (std::size_t i = 0; i < lockers; ++i)
        handed_over += s.locker(i).stats().handed_over;
    BOOST_TEST(handed_over > 0u);
    s.finish();
    for (auto& node : c.nodes)
        BOOST_TEST(node.command({"KEYS", "hf:[lq]:*"}) == "");
}

constexpr std::uint64_t tokens_in_ballot = 128;

std::string register_of(const std::string& resource)
{
    return std::to_string(redis::fenced_calls::register_of(redis::hash_of("hf:l:" + resource)));
}

// A ballot is an eighth of a millisecond.
std::uint64_t ballot_of(std::chrono::system_clock::time_point when)
{
    return static_cast<std::uint64_t>(when.time_since_epoch() / 1ms) * 8;
}

// The reason that the locker reports for a node.
std::string reason(scene& s, std::size_t node)
{
    return s.locker().stats().nodes.at(node).reason;
}

bool has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

task hand_on(scene& s)
{
    lease first = co_await s.lock(0, patient()).acquire();
    call<lease> wait;
    s.lock(0, patient()).acquire(wait.token());
    co_await first.release();
    while (!wait.done())
        co_await pause(1ms);
    lease& second = wait.result<lease>();
    BOOST_TEST(*second.fence() == *first.fence() + 1);
    BOOST_TEST(s.locker().stats().handed_over == 1u);
    co_await second.release();
    lease third = co_await s.lock(0, patient()).acquire();
    BOOST_TEST(*third.fence() > *second.fence());
    co_await third.release();
}

BOOST_AUTO_TEST_CASE(the_next_holder_in_the_same_process_has_the_next_token)
{
    cluster c(3);
    play(c.fenced_store(new_nodes()), 1, [](scene& s) { return hand_on(s); });
}

// Every node has its registers and its record.
task be_open(scene& s, cluster& c)
{
    lease held = co_await s.lock(0, patient()).acquire();
    co_await held.release();
    const bool everywhere = co_await c.have_copies("hf:n", c.size(), 5s);
    BOOST_REQUIRE(everywhere);
}

// A majority has accepted a larger ballot than the clocks give: the next lease follows it.
task follow_registers(scene& s, cluster& c)
{
    const std::uint64_t ahead = ballot_of(std::chrono::system_clock::now() + 500ms);
    c.command({"ZADD", "hf:f", std::to_string(ahead), register_of(s.resource)}, 2);
    lease held = co_await s.lock(0, patient()).acquire();
    BOOST_TEST(*held.fence() == (ahead + 1) * tokens_in_ballot);
    co_await held.release();
}

BOOST_AUTO_TEST_CASE(a_lease_has_a_larger_token_than_its_registers_have_accepted)
{
    cluster c(3);
    play(c.fenced_store(new_nodes()), 1, [&](scene& s) { return be_open(s, c); });
    play(c.fenced_store(new_nodes()), 1, [&](scene& s) { return follow_registers(s, c); });
}

// A node that was restarted or emptied has lost leases and tokens. It grants nothing until its
// quarantine is over. If that is true for two nodes of three, no lock is granted.
holdfast::lock brief_lock(scene& s)
{
    lock_options options;
    options.ttl = 2s;
    options.wait = 20s;
    return holdfast::lock(s.locker(), "stock", options);
}

task write_once(scene& s, fenced_store& store)
{
    lease held = co_await brief_lock(s).acquire();
    store.write(held);
    co_await held.release();
}

// A lease needs only a majority; this makes sure that all nodes have been used.
task be_known_everywhere(scene& s, cluster& c, fenced_store& store)
{
    co_await write_once(s, store);
    const bool known = co_await c.have_copies("hf:n", c.size(), 5s);
    BOOST_REQUIRE(known);
}

task stay_out(scene& s, cluster& c, fenced_store& store)
{
    const std::string words = "in quarantine for another";
    const auto deadline = steady::now() + 5s;
    while (!has(reason(s, 0), words) && steady::now() < deadline)
        co_await pause(5ms);
    BOOST_TEST(has(reason(s, 0), words), reason(s, 0)); // before any attempt
    const auto accepted = [&] {
        return c.nodes[0].command({"ZSCORE", "hf:f", register_of("stock")});
    };
    const std::string before = accepted();
    co_await write_once(s, store);
    BOOST_TEST(accepted() == before);

    c.nodes[1].command({"FLUSHALL"});
    const auto begin = steady::now();
    auto [why, none] = co_await brief_lock(s).acquire(1s, no_throw);
    BOOST_TEST(why == errc::fencing_unavailable, why.message());
    BOOST_TEST((steady::now() - begin > 950ms)); // the attempt waited for it
    BOOST_TEST(has(reason(s, 1), words), reason(s, 1));
}

BOOST_AUTO_TEST_CASE(a_node_that_lost_its_data_grants_nothing)
{
    cluster c(3);
    fenced_store store;
    play(
        c.fenced_store(new_nodes()), 1, [&](scene& s) { return be_known_everywhere(s, c, store); });
    c.nodes[0].kill();
    c.nodes[0].restart();
    play(c.fenced_store({}), 1, [&](scene& s) { return stay_out(s, c, store); });
    BOOST_TEST(store.writes == 2u);
}

task come_back(scene& s, cluster& c, fenced_store& store)
{
    co_await write_once(s, store);
    c.command({"FLUSHALL"}, 2);
    const auto emptied = steady::now();
    co_await write_once(s, store);
    BOOST_TEST((steady::now() - emptied > 3s));
}

BOOST_AUTO_TEST_CASE(a_quarantine_is_waited_for)
{
    cluster c(3);
    fencing_options fence{.quarantine = 3s, .ahead = 500ms};
    fenced_store store;
    play(c.fenced_store(fence), 1, [&](scene& s) { return come_back(s, c, store); });
    BOOST_TEST(store.writes == 2u);
}

// A fault that an operator must fix ends the wait at once, with a message that describes it.
task be_refused(scene& s, errc expected, std::string words)
{
    const auto begin = steady::now();
    auto [ec, none] = co_await s.lock(0, patient()).acquire(no_throw);
    BOOST_TEST(ec == expected, ec.message());
    BOOST_TEST((steady::now() - begin < 10s));
    const std::string nodes = describe_nodes(s.locker().stats());
    BOOST_TEST(has(nodes, words), nodes);
}

task meet_spoilt_keys(scene& s, cluster& c)
{
    c.command({"LPUSH", "hf:l:" + s.resource, "x"}, 2);
    co_await be_refused(s, errc::key_conflict, "hf:l:" + s.resource);
    c.command({"DEL", "hf:l:" + s.resource}, 2);
    lease held = co_await s.lock(0, patient()).acquire();
    BOOST_TEST(held.fence().has_value());
    co_await held.release();
}

BOOST_AUTO_TEST_CASE(the_message_names_spoilt_keys)
{
    cluster c(3);
    play(c.fenced_store(new_nodes()), 1, [&](scene& s) { return meet_spoilt_keys(s, c); });
}

BOOST_AUTO_TEST_CASE(clients_must_have_the_same_settings)
{
    cluster c(3);
    fenced_store store;
    scene ours(c.fenced_store(new_nodes()));
    run(ours.io, write_often(ours, 0, store, 1));
    fencing_options other = new_nodes();
    other.quarantine = 90s;
    play(c.fenced_store(other), 1, [](scene& s) {
        return be_refused(s, errc::misconfigured_node,
            "other clients have other settings of fencing: quarantine 60000 ms, ahead 1000 ms; "
            "ours are: quarantine 90000 ms");
    });
    run(ours.io, write_often(ours, 0, store, 1));
    ours.finish();
    BOOST_TEST(store.writes == 2u);
}

// All rights that docs/operation.md lists: those of the least-privileged user, and those that
// fencing needs in addition. No other text of the document has words of this form.
std::vector<std::string> documented_rights()
{
    std::ifstream document(HOLDFAST_SOURCE_DIR "/docs/operation.md");
    std::vector<std::string> rights;
    for (std::string word; document >> word;) {
        std::erase(word, '`');
        const bool right = word.starts_with("+") || word == "-@all" || word == "&holdfast:*";
        if (right && word.size() > 2)
            rights.push_back(word);
    }
    return rights;
}

task hold_and_extend(scene& s)
{
    lease held = co_await s.lock(0, patient()).acquire();
    co_await pause(1200ms); // meanwhile waiters look at all nodes
    co_await held.extend();
    const auto seen = co_await s.locker().inspect(s.resource, asio::use_awaitable);
    BOOST_TEST(seen.owner.value().client.has_value());
    BOOST_TEST(seen.fence.value() >= held.fence().value());
    const auto all = co_await s.locker().list("test:", asio::use_awaitable);
    BOOST_TEST(all.locks.size() == 1u);
    co_await held.release();
}

// No node may have refused a command for lack of rights.
BOOST_AUTO_TEST_CASE(the_documents_list_all_necessary_rights)
{
    cluster c(3);
    std::vector<std::string> command{
        "ACL", "SETUSER", "worker", "on", ">secret", "~hf:*"}; // in place of "~stock:*"
    for (const std::string& right : documented_rights())
        command.push_back(right);
    BOOST_REQUIRE(command.size() > 30u);
    std::vector<endpoint> nodes;
    for (auto& node : c.nodes) {
        BOOST_REQUIRE(node.command(command) == "OK");
        std::string url = node.url();
        nodes.emplace_back(url.insert(url.find("//") + 2, "worker:secret@"));
    }
    redlock_options options{.fencing = fencing::on, .fence = new_nodes()};
    scene s(redlock(nodes, options), 3);
    fenced_store store;
    std::vector<task> all;
    all.push_back(hold_and_extend(s));
    all.push_back(write_often(s, 1, store, 3));
    all.push_back(write_often(s, 2, store, 3));
    run(s.io, std::move(all));
    s.finish();
    for (auto& node : c.nodes)
        BOOST_TEST(node.command({"ACL", "LOG"}) == "");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
