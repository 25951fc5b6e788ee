// Rows 33 and 37: processes that are stopped or end while they hold a lock.
#include "integration/acceptance/acceptance.hpp"
#include "support/call.hpp"

#include "support/call.hpp"
#include "support/child_process.hpp"
#include <holdfast/election.hpp>

#include <algorithm>
#include <sstream>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_processes)

struct line {
    steady::time_point when;
    bool held = false;
};

line parse(const std::string& text)
{
    std::istringstream words(text);
    steady::rep when = 0;
    line parsed;
    words >> when >> parsed.held;
    BOOST_REQUIRE_MESSAGE(!words.fail(), text);
    parsed.when = steady::time_point(steady::duration(when));
    return parsed;
}

bool is_end(const std::string& text)
{
    return text.empty() || text.starts_with("ended: ");
}

// Reads to the end. After `resumed` the holder must never have reported a valid lease.
std::string read_to_the_end(child_process& holder, steady::time_point resumed)
{
    for (;;) {
        const auto text = holder.read_line();
        if (is_end(text))
            return text;
        const line said = parse(text);
        BOOST_TEST((said.when < resumed || !said.held), text);
    }
}

BOOST_AUTO_TEST_CASE(row_33_a_holder_that_is_stopped_for_longer_than_its_ttl)
{
    cluster c(3);
    std::vector<std::string> words{HOLDFAST_STOPPED_HOLDER, "resource", "2000"};
    for (const auto& url : urls(c.nodes))
        words.push_back(url);
    child_process holder(words);
    for (int i = 0; i < 15; ++i) // then no answer is pending that could wake the locker first
        BOOST_TEST(parse(holder.read_line()).held);
    holder.pause();

    scene s(c.store());
    lease next;
    run(s.io, [](scene& all, lease& to) -> task {
        co_await connect_all(all.locker());
        to = co_await lock(all.locker(), "resource").acquire(); // after the end of the ttl
    }(s, next));
    // The last node may still have the key of the first holder, which that holder may delete.
    run(s.io, [](cluster& nodes) -> task {
        const bool everywhere = co_await becomes_true([&nodes] {
            const auto ours = nodes.nodes[0].command({"GET", "resource"});
            return std::all_of(nodes.nodes.begin(), nodes.nodes.end(), [&ours](auto& node) {
                return node.command({"GET", "resource"}) == ours;
            });
        });
        BOOST_TEST(everywhere);
    }(c));

    const auto resumed = steady::now();
    holder.resume();
    const auto end = read_to_the_end(holder, resumed);
    BOOST_TEST(end.find("the lease is lost") != std::string::npos, end);
    BOOST_TEST(holder.read_line() == ""); // it has closed its locker and ended

    BOOST_TEST(c.copies("resource") == 3u); // its deletions did not change our keys
    run(s.io, [](lease& ours) -> task {
        co_await ours.extend();
        const release_outcome outcome = co_await ours.release();
        BOOST_TEST(outcome == release_outcome::released);
    }(next));
    s.finish();
}

// The locker cannot run any more, so the key is not deleted: it ends by its ttl.
BOOST_AUTO_TEST_CASE(row_37_a_context_that_is_stopped_while_a_lease_is_held)
{
    cluster c(3);
    const auto ttl = 2s;
    const auto resource = unique_name();
    {
        asio::io_context io;
        holdfast::locker locker(io.get_executor(), c.store());
        lease held;
        run(io, connect_all(locker));
        run(io, [](holdfast::lock what, lease& to) -> task {
            to = co_await what.acquire();
        }(lock(locker, resource, with_ttl(ttl)), held));
        call<> lost;
        held.lost(lost.token());
        io.stop();
        BOOST_TEST(io.run() == 0u);
        const auto begin = steady::now();
        held = lease();
        locker = holdfast::locker(io.get_executor(), memory()); // destroys the first one
        BOOST_TEST((steady::now() - begin < slack));            // does not wait for the nodes
        BOOST_TEST(!lost.done());
    }
    c.wait_until_alone();
    BOOST_TEST(c.copies(resource) > 0u);
    BOOST_TEST(c.wait_until_empty(ttl));
}

task drop_and_go(scene& s, cluster& c)
{
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, with_ttl(60s)).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(everywhere);
    held = lease();
    const bool given_back = co_await c.have_copies(s.resource, 0, 5s);
    BOOST_TEST(given_back);
}

// The release of a term that has ended is under way when the run is cancelled.
BOOST_AUTO_TEST_CASE(row_37_the_run_of_an_election_ends_after_the_release)
{
    cluster c(3);
    scene s(c.store());
    election_options options;
    options.pause_min = options.pause_max = 60s;
    const election office(s.locker(), s.resource, with_ttl(30s), options);
    run(s.io, [](scene& all, cluster& in, const election& leads) -> task {
        co_await connect_all(all.locker());
        bool leading = false;
        auto body = [&leading](lease&) -> task {
            leading = true;
            try {
                co_await pause(60s);
            } catch (const boost::system::system_error&) {
                leading = false;
                throw;
            }
        };
        call<> told;
        leads.run(body, told.token());
        while (!leading)
            co_await pause(1ms);
        for (auto& node : in.nodes)
            node.pause();
        leads.resign();
        while (leading)
            co_await pause(1ms);
        co_await pause(20ms);
        told.cancel();
        co_await pause(20ms);
        BOOST_TEST(!told.done());
        for (auto& node : in.nodes)
            node.resume();
        while (!told.done())
            co_await pause(1ms);
        BOOST_TEST(in.copies(all.resource) == 0u);
    }(s, c, office));
    s.finish();
}

BOOST_AUTO_TEST_CASE(row_37_a_destroyed_lease_is_released_while_the_context_runs)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return drop_and_go(s, c); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
