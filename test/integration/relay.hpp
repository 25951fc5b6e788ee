#pragma once

#include "support/call.hpp"
#include "support/cluster.hpp"

#include "redis/node/scripts.hpp"
#include "redis/quorum/rendezvous.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace holdfast::test {

/// A resource that goes from one holder to the next through the queue of the nodes. A holder that
/// has waited there gives its lease to the next one as it is, unless a node answers late. So a test
/// repeats its steps until that was done.
class relay {
public:
    relay(scene& s, cluster& c, const lock_options& options)
        : queue_node(find_queue_node(s, c)),
          s_(s),
          c_(c),
          options_(options)
    {}

    /// Long leases: no test waits for their end. No turn is left to clients that poll.
    static lock_options patient()
    {
        lock_options options;
        options.ttl = 30s;
        options.wait = 50s;
        options.polling_window = 0ms;
        return options;
    }

    holdfast::lock lock(std::size_t which) { return s_.lock(which, options_); }
    holdfast::lock lock(holdfast::locker& of) const { return {of, s_.resource, options_}; }

    /// The first holder that has waited: locker 1, behind locker 0. An attempt that reached a node
    /// before the first lease would take that node from it.
    task start()
    {
        held = co_await lock(0).acquire();
        const bool everywhere = co_await c_.have_copies(s_.resource, c_.size(), in_time);
        BOOST_REQUIRE(everywhere);
        co_await turn(lock(1));
    }

    /// The next holder waits, and gets the lease.
    task turn(holdfast::lock next)
    {
        call<lease> waiting;
        co_await wait(next, waiting);
        co_await release();
        co_await be_granted(waiting);
    }

    /// Begins a wait. Returns the place in the queue.
    asio::awaitable<std::string> wait(holdfast::lock next, call<lease>& waiting)
    {
        const auto before = places();
        next.acquire(waiting.token());
        co_return co_await new_place(before);
    }

    /// Waits until somebody else waits in the queue than before. Returns that place.
    asio::awaitable<std::string> new_place(std::set<std::string> before)
    {
        const auto deadline = steady::now() + in_time;
        for (;;) {
            for (const std::string& each : places()) {
                if (!before.contains(each))
                    co_return each;
            }
            BOOST_REQUIRE(steady::now() < deadline);
            co_await pause(1ms);
        }
    }

    /// The places in the queue.
    std::set<std::string> places()
    {
        std::set<std::string> all;
        std::istringstream lines(queue().command({"ZRANGE", queue_key(), "0", "-1"}));
        for (std::string line; std::getline(lines, line);)
            all.insert(line);
        return all;
    }

    /// Releases, with nearly all of the ttl left. Nodes with a late renewal would delete the keys.
    asio::awaitable<release_outcome> release()
    {
        co_await held.extend();
        co_return co_await held.release();
    }

    task be_granted(call<lease>& waiting, steady::duration limit = in_time)
    {
        const auto deadline = steady::now() + limit;
        while (!waiting.done() && steady::now() < deadline)
            co_await pause(1ms);
        BOOST_REQUIRE(waiting.done());
        BOOST_REQUIRE_MESSAGE(!waiting.error(), waiting.error().message());
        held = std::move(waiting.result<lease>());
        BOOST_TEST(held.held());
    }

    /// The values of the key at all nodes.
    std::vector<std::string> values()
    {
        std::vector<std::string> all;
        for (auto& each : c_.nodes)
            all.push_back(each.command({"GET", s_.resource}));
        return all;
    }

    /// Whether the key at the queue node names the client to which the lease was given as it was:
    /// all nodes have the same owner token, and the queue node has the receiver's behind it.
    bool was_given()
    {
        const auto all = values();
        const std::string token = all.at(queue_node).substr(0, token_length);
        return all.at(queue_node).size() > 2 * token_length &&
               std::ranges::all_of(
                   all, [&](const auto& value) { return value.starts_with(token); });
    }

    /// Whether the queue node was asked to give a lease, since `forget_requests()`.
    bool was_asked(const redis::script& what = redis::baton_script)
    {
        return queue().command({"SLOWLOG", "GET", "-1"}).find(what.digest) != std::string::npos;
    }
    void forget_requests() { c_.command({"SLOWLOG", "RESET"}); }

    redis_server& queue() { return c_.nodes.at(queue_node); }
    std::string queue_key() const { return s_.resource + std::string(redis::queue_suffix); }

    lease held;
    const std::size_t queue_node;

    static constexpr std::size_t token_length = 32;
    static constexpr auto in_time = 10s; ///< a fraction of a long ttl
    /// So that the nodes know all their requests.
    static inline const std::vector<std::string> record_requests{
        "--slowlog-log-slower-than", "0", "--slowlog-max-len", "100000"};

private:
    static std::size_t find_queue_node(const scene& s, cluster& c)
    {
        const std::uint64_t resource = redis::hash_of(s.resource);
        std::size_t best = 0;
        std::uint64_t highest = 0;
        for (std::size_t i = 0; i < c.size(); ++i) {
            const std::string info = c.nodes[i].command({"INFO", "server"});
            const std::size_t id = info.find("run_id:") + 7;
            const std::string run_id = info.substr(id, info.find('\r', id) - id);
            const auto rank = redis::queue_node_rank(resource, redis::hash_of(run_id));
            if (rank > highest)
                best = i;
            highest = std::max(highest, rank);
        }
        return best;
    }

    scene& s_;
    cluster& c_;
    lock_options options_;
};

/// Counts the attempts of a test until a lease is given as it is. On a busy machine some fail: a
/// node that has answered after more than 25 ms, or a waiter that came more than 1 s ago, is reason
/// enough to delete the keys instead. Such attempts are rare, and the output tells how many there
/// were.
class attempts {
public:
    static constexpr int most = 5; ///< for one lease

    explicit attempts(int limit = most) : limit_(limit) {}

    void next()
    {
        if (count_ != 0)
            BOOST_TEST_MESSAGE("no lease was given as it is in attempt " << count_);
        BOOST_REQUIRE_MESSAGE(
            count_ < limit_, "no lease was given as it is in " << count_ << " attempts");
        ++count_;
    }

private:
    const int limit_;
    int count_ = 0;
};

} // namespace holdfast::test
