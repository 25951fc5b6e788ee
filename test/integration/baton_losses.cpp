// Leases that are given to other processes, and messages that are lost on the way, or processes
// that end or stop there.
#include "integration/relay.hpp"
#include "support/child_process.hpp"
#include "support/fault_proxy.hpp"

#include <algorithm>
#include <deque>
#include <optional>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(baton_losses)

// A locker that reaches the nodes through proxies.
struct far_locker {
    far_locker(scene& s, cluster& c) : executor(s.io.get_executor()), store(behind_proxies(c))
    {
        self.emplace(executor, store);
    }

    backend behind_proxies(cluster& c)
    {
        std::vector<endpoint> nodes;
        for (auto& node : c.nodes)
            nodes.emplace_back(proxies.emplace_back(node.port()).url());
        redlock_options options;
        options.node_timeout = 500ms;
        options.reconnect_min = 20ms;
        options.reconnect_max = 200ms;
        return redlock(nodes, options);
    }

    // Another locker takes its place. It has never lost a request.
    task restart()
    {
        co_await self->close(asio::use_awaitable);
        self.emplace(executor, store);
    }

    // A lease is not given as it is while a request about it is without an answer.
    task have_all_answers()
    {
        const auto deadline = steady::now() + relay::in_time;
        while (!all_answered()) {
            BOOST_REQUIRE(steady::now() < deadline);
            co_await pause(1ms);
        }
    }

    bool all_answered() const
    {
        const locker_stats stats = self->stats();
        return std::ranges::all_of(stats.nodes,
            [](const node_stats& node) { return node.latency.count() == node.commands; });
    }

    // The connection to the node ends, and a new one has no faults.
    void repair(std::size_t node)
    {
        proxies.at(node).set({});
        proxies.at(node).reset();
    }

    asio::any_io_executor executor;
    std::deque<fault_proxy> proxies;
    backend store;
    std::optional<holdfast::locker> self;
};

template <class Work>
void play_far(Work work)
{
    cluster c(3, relay::record_requests);
    // A node that answers that it does not know a script would be asked again, but for the loss.
    for (const redis::script& each : {redis::baton_script, redis::pass_on_script})
        c.command({"SCRIPT", "LOAD", std::string(each.text)});
    play(c.store(), 2, [&](scene& s) -> task {
        far_locker far(s, c);
        co_await work(s, c, far);
        co_await far.self->close(asio::use_awaitable);
    });
    BOOST_TEST(c.empty_within(0s));
}

task lose_the_message(scene& s, cluster& c, far_locker& far)
{
    relay r(s, c, relay::patient());
    co_await r.start();
    attempts tries;
    for (bool given = false; !given;) {
        tries.next();
        call<lease> waiting;
        co_await r.wait(r.lock(*far.self), waiting);
        far.proxies.at(r.queue_node).set({.to_client = {.lost = true}});
        const release_outcome outcome = co_await r.release();
        BOOST_TEST(outcome == release_outcome::released);
        given = r.was_given();
        const auto values = r.values();
        BOOST_TEST(!waiting.done());
        far.repair(r.queue_node);
        co_await r.be_granted(waiting);
        if (given)
            BOOST_TEST((r.values() == values)); // the lease that it was given, not another one
        else
            co_await r.turn(r.lock(1));
    }
    co_await r.held.extend();
    co_await r.held.release();
}

BOOST_AUTO_TEST_CASE(a_waiter_that_has_missed_the_message_gets_the_lease_when_it_asks_again)
{
    play_far(lose_the_message);
}

// The queue node has noticed that the first waiter is gone: the second one gets the lease.
task lose_the_connection(scene& s, cluster& c, far_locker& far)
{
    relay r(s, c, relay::patient());
    fault_proxy& link = far.proxies.at(r.queue_node);
    attempts tries;
    for (bool given = false; !given;) {
        tries.next();
        co_await r.start();
        call<lease> gone, behind;
        const std::string place = co_await r.wait(r.lock(*far.self), gone);
        const std::string channel = place.substr(relay::token_length + redis::reference_length);
        co_await r.wait(r.lock(0), behind);
        link.set({.new_connections = newcomers::refused});
        link.reset();
        while (r.queue().command({"PUBSUB", "NUMSUB", channel}) != channel + "\n0")
            co_await pause(1ms);
        co_await r.release();
        co_await r.be_granted(behind);
        given = r.was_given();
        BOOST_TEST(!gone.done());
        far.repair(r.queue_node);
        co_await r.release();
        co_await r.be_granted(gone);
        co_await r.held.release();
    }
}

BOOST_AUTO_TEST_CASE(a_waiter_without_a_connection_is_passed_over)
{
    play_far(lose_the_connection);
}

// The giver cannot know whether the waiter has the lease, and must not delete its keys.
task lose_the_answer(scene& s, cluster& c, far_locker& far)
{
    relay r(s, c, relay::patient());
    co_await r.start();
    attempts tries;
    for (bool given = false; !given;) {
        tries.next();
        co_await far.restart();
        co_await r.turn(r.lock(*far.self));
        call<lease> waiting;
        co_await r.wait(r.lock(0), waiting);
        co_await r.held.extend();
        co_await far.have_all_answers();
        r.forget_requests();
        far.proxies.at(r.queue_node).set({.to_client = {.lost = true}});
        call<release_outcome> releasing;
        r.held.release(releasing.token());
        co_await r.be_granted(waiting);
        given = r.was_given();
        const auto values = r.values();
        far.repair(r.queue_node); // the release has not ended yet
        while (!releasing.done())
            co_await pause(1ms);
        if (!given)
            continue;
        BOOST_TEST(releasing.result<release_outcome>() == release_outcome::unconfirmed);
        while (!r.was_asked(redis::pass_on_script)) // it is not the giver's lease any more
            co_await pause(1ms);
        co_await far.self->close(asio::use_awaitable);
        co_await r.held.extend();
        BOOST_TEST((r.values() == values));
    }
    co_await r.held.release();
}

BOOST_AUTO_TEST_CASE(a_giver_that_has_missed_the_answer_leaves_the_keys_to_the_next_holder)
{
    play_far(lose_the_answer);
}

// Nobody has got the lease: the giver finds that out, and deletes the keys.
task lose_the_request(scene& s, cluster& c, far_locker& far)
{
    relay r(s, c, relay::patient());
    co_await r.start();
    attempts tries;
    for (bool tried = false; !tried;) {
        tries.next();
        co_await far.restart();
        co_await r.turn(r.lock(*far.self));
        call<lease> waiting;
        co_await r.wait(r.lock(0), waiting);
        co_await r.held.extend();
        co_await far.have_all_answers();
        far.proxies.at(r.queue_node).set({.to_server = {.lost = true}});
        const release_outcome outcome = co_await r.held.release();
        tried = outcome == release_outcome::unconfirmed;
        if (tried) {
            BOOST_TEST(c.copies(s.resource) == c.size());
            BOOST_TEST(!waiting.done());
        }
        far.repair(r.queue_node);
        co_await r.be_granted(waiting);
    }
    co_await r.held.release();
}

BOOST_AUTO_TEST_CASE(a_lease_whose_giver_was_not_heard_is_released_later)
{
    play_far(lose_the_request);
}

// Processes that hold the lease until its end, of a ttl that the tests wait for.
constexpr auto ttl = 3s;

lock_options brief()
{
    lock_options options = relay::patient();
    options.ttl = ttl;
    return options;
}

child_process holder_of(const scene& s, cluster& c)
{
    std::vector<std::string> words{
        HOLDFAST_LOCK_HOLDER, s.resource, std::to_string(std::chrono::milliseconds(ttl).count())};
    for (const std::string& url : urls(c.nodes))
        words.push_back(url);
    return child_process(words);
}

// A line of its output: the end of its lease.
steady::time_point end_in(const std::string& line)
{
    BOOST_REQUIRE(!line.empty());
    return steady::time_point(std::chrono::nanoseconds(std::stoll(line)));
}

// All that it has printed, after its end.
steady::time_point last_end(child_process& holder, steady::time_point last)
{
    for (std::string line; !(line = holder.read_line()).empty();)
        last = std::max(last, end_in(line));
    return last;
}

// A lease is given to a process. It is frozen before that, or holds the lease afterwards.
asio::awaitable<child_process> give_to_process(scene& s, cluster& c, relay& r, bool frozen)
{
    attempts tries;
    for (;;) {
        tries.next();
        co_await r.start();
        const auto before = r.places();
        child_process next = holder_of(s, c);
        co_await r.new_place(before);
        if (frozen)
            next.pause();
        co_await r.release();
        if (r.was_given())
            co_return next;
        if (frozen)
            next.resume();
        next.ask_to_end(); // so nothing of this attempt stays at the nodes
        BOOST_REQUIRE(next.wait() == 0);
    }
}

// Another one gets the lock, once the lease of that process has ended, or could have.
task succeed(relay& r)
{
    const auto began = steady::now();
    call<lease> waiting;
    co_await r.wait(r.lock(0), waiting);
    co_await r.be_granted(waiting);
    BOOST_TEST((steady::now() - began < ttl + 2s));
}

task kill_the_holder(scene& s, cluster& c)
{
    relay r(s, c, brief());
    child_process holder = co_await give_to_process(s, c, r, false);
    steady::time_point last = end_in(holder.read_line());
    holder.kill();
    last = last_end(holder, last);
    co_await succeed(r);
    BOOST_TEST((steady::now() >= last));
    co_await r.held.release();
}

BOOST_AUTO_TEST_CASE(a_lease_that_was_given_to_a_process_ends_after_its_crash)
{
    cluster c(3);
    play(c.store(), 2, [&](scene& s) { return kill_the_holder(s, c); });
    // The next holder got a majority. A key of the process at the other node may last longer.
    BOOST_TEST(c.empty_within(ttl));
}

task freeze_the_holder(scene& s, cluster& c)
{
    relay r(s, c, brief());
    child_process holder = co_await give_to_process(s, c, r, false);
    steady::time_point last = end_in(holder.read_line());
    holder.pause();
    while (holder.has_output())
        last = std::max(last, end_in(holder.read_line()));
    co_await succeed(r);
    BOOST_TEST((steady::now() >= last));
    holder.resume();
    BOOST_TEST((last_end(holder, last) == last)); // it ends, and has assumed no longer validity
    BOOST_TEST(holder.wait() == 0);
    co_await r.held.extend();
    co_await r.held.release();
}

BOOST_AUTO_TEST_CASE(a_process_that_is_frozen_with_a_given_lease_notices_its_end)
{
    cluster c(3);
    play(c.store(), 2, [&](scene& s) { return freeze_the_holder(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

// It reads the message when the lease has ended, and another one has the lock.
task freeze_the_waiter(scene& s, cluster& c)
{
    relay r(s, c, brief());
    child_process waiter = co_await give_to_process(s, c, r, true);
    co_await succeed(r);
    const auto before = r.places();
    waiter.resume();
    co_await r.new_place(before); // it waits once more
    BOOST_TEST(!waiter.has_output());
    co_await r.held.extend();
    const auto released = steady::now();
    co_await r.held.release();
    BOOST_TEST((end_in(waiter.read_line()) > released + ttl / 2));
    co_await c.have_copies(s.resource, c.size(), 5s);
    waiter.kill();
}

BOOST_AUTO_TEST_CASE(a_process_that_is_frozen_before_a_lease_is_given_to_it_does_not_take_it)
{
    cluster c(3);
    play(c.store(), 2, [&](scene& s) { return freeze_the_waiter(s, c); });
    BOOST_TEST(c.empty_within(ttl));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
