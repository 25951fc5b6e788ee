// A process that drains its locker on SIGTERM.
#include "support/child_process.hpp"
#include "support/cluster.hpp"

#include <algorithm>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(draining)

using lines = std::vector<std::string>;

const std::string resource = "resource";
constexpr auto ttl = 3s;

child_process start_holder(const cluster& c, std::chrono::milliseconds deadline)
{
    lines words{HOLDFAST_DRAINING_HOLDER, resource,
        std::to_string(std::chrono::milliseconds(ttl).count()), std::to_string(deadline.count())};
    for (const auto& url : urls(c.nodes))
        words.push_back(url);
    return child_process(words);
}

lines read_to_the_end(child_process& holder)
{
    lines all;
    for (std::string line = holder.read_line(); !line.empty(); line = holder.read_line())
        all.push_back(std::move(line));
    return all;
}

bool has(const lines& all, const std::string& line)
{
    return std::find(all.begin(), all.end(), line) != all.end();
}

// The holder works on for longer than its ttl: the lease is renewed during the drain.
BOOST_AUTO_TEST_CASE(a_process_that_is_asked_to_end_finishes_its_work_first)
{
    cluster c(3);
    child_process holder = start_holder(c, 10min);
    BOOST_TEST(holder.read_line() == "working");
    holder.ask_to_end();
    BOOST_TEST(holder.read_line() == "waiter: " + error_code(errc::closed).message());
    const auto until = steady::now() + ttl + 1s;
    while (steady::now() < until) {
        BOOST_REQUIRE(c.copies(resource) >= c.majority());
        std::this_thread::sleep_for(50ms);
    }
    BOOST_TEST(holder.running());
    ::kill(holder.pid(), SIGUSR1);
    const lines rest = read_to_the_end(holder);
    BOOST_TEST(rest.front() == "worked");
    BOOST_TEST(has(rest, "hold: done"));
    BOOST_TEST(has(rest, "drained"));
    BOOST_TEST(rest.back() == "closed");
    BOOST_TEST(holder.wait() == 0);
    BOOST_TEST(c.copies(resource) == 0u); // at once, not at the end of the ttl
}

BOOST_AUTO_TEST_CASE(work_that_does_not_end_is_stopped_at_the_deadline)
{
    cluster c(3);
    child_process holder = start_holder(c, 100ms);
    BOOST_TEST(holder.read_line() == "working");
    holder.ask_to_end();
    const lines rest = read_to_the_end(holder);
    BOOST_TEST(rest.front() == "waiter: " + error_code(errc::closed).message());
    BOOST_TEST(has(rest, "stopped"));
    BOOST_TEST(has(rest, "hold: " + error_code(errc::lease_lost).message()));
    BOOST_TEST(has(rest, "drained"));
    BOOST_TEST(rest.back() == "closed");
    BOOST_TEST(holder.wait() == 0);
    BOOST_TEST(c.copies(resource) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
