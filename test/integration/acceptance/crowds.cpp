// Row 40: many waiters for one lock, and two clients that collide.
#include "core/locker_core.hpp"
#include "core/params.hpp"
#include "integration/acceptance/acceptance.hpp"
#include "integration/acceptance/some_bits.hpp"
#include "support/call.hpp"
#include "support/fault_proxy.hpp"
#include "support/scripted_backend.hpp"
#include "support/times.hpp"

#include <holdfast/semaphore.hpp>

#include <map>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_crowds)

constexpr std::size_t many = 10'000;
constexpr std::size_t most_memory = 64 * 1024 * 1024;

// The results of waiters that wait at the same time, by message.
struct ends {
    std::map<std::string, std::size_t> count;
    std::size_t all = 0;
    steady::time_point first = steady::time_point::max(), last;
};

ends wait_together(scene& s, std::size_t which, std::size_t count, std::chrono::milliseconds wait)
{
    ends seen;
    const auto lock = s.lock(which);
    for (std::size_t i = 0; i < count; ++i)
        lock.acquire(wait, [&seen](error_code ec, lease) {
            const auto now = steady::now();
            seen.first = std::min(seen.first, now);
            seen.last = now;
            ++seen.count[ec.message()];
            ++seen.all;
        });
    run_until(s.io, [&] { return seen.all == count; });
    return seen;
}

std::size_t connected_clients(redis_server& node)
{
    const auto info = node.command({"INFO", "clients"});
    const std::string name = "connected_clients:";
    return std::stoul(info.substr(info.find(name) + name.size()));
}

BOOST_AUTO_TEST_CASE(row_40_ten_thousand_waiters_end_in_time_as_contended)
{
    cluster c(3);
    scene s(c.store(), 2);
    lease held;
    run(s.io, [](scene& all, lease& to) -> task {
        co_await connect_all(all.locker(0));
        co_await connect_all(all.locker(1));
        to = co_await all.lock(0).acquire();
    }(s, held));

    const auto wait = 1500ms;
    const auto memory_before = resident_bytes();
    const auto begin = steady::now();
    const ends seen = wait_together(s, 1, many, wait);
    for (const auto& [message, count] : seen.count)
        BOOST_TEST(message == make_error_code(errc::contended).message(), count << " times");
    BOOST_TEST((seen.first >= begin + wait));
    BOOST_TEST((seen.last < begin + wait + slack));
    BOOST_TEST(held.held());

    // One attempt is made for all of them, with pauses.
    const auto stats = s.locker(1).stats();
    BOOST_TEST(stats.waiting == 0u);
    BOOST_TEST(stats.attempts < 200u);
    for (const auto& node : stats.nodes)
        BOOST_TEST(node.commands < 1000u);
    for (auto& node : c.nodes)
        BOOST_TEST(connected_clients(node) == 3u); // a connection for each locker, and ours
    BOOST_TEST(resident_bytes() < memory_before + most_memory);
    run(s.io, [](lease& ours) -> task {
        co_await ours.release();
    }(held));
    s.finish();
    BOOST_TEST(c.empty_within(0s));
}

// The resource is not held: the waiters must not be told that it is.
BOOST_AUTO_TEST_CASE(row_40_waiters_without_nodes_end_as_unreachable)
{
    cluster c(3);
    c.nodes[0].kill();
    c.nodes[1].kill();
    scene s(c.store());
    const ends seen = wait_together(s, 0, 1000, 400ms);
    for (const auto& [message, count] : seen.count)
        BOOST_TEST(message == make_error_code(errc::unreachable).message(), count << " times");
    s.finish();
    BOOST_TEST(c.nodes[2].command({"DBSIZE"}) == "0");
}

// Its attempts stand in line behind others, which wait longer.
BOOST_AUTO_TEST_CASE(row_40_a_semaphore_without_nodes_waits_no_longer_than_it_may)
{
    cluster c(3);
    c.nodes[0].kill();
    c.nodes[1].kill();
    scene s(c.store());
    lock_options patient;
    patient.wait = forever;
    std::size_t ended = 0;
    for (std::size_t i = 0; i < 2000; ++i) {
        const lock each(s.locker(), s.resource + std::to_string(i), patient);
        each.acquire([&ended](error_code, lease) { ++ended; });
    }
    const semaphore permits(s.locker(), s.resource, 8, patient);
    call<lease> brief, longer;
    lock(s.locker(), s.resource + ":longer", patient).acquire(6s, longer.token());
    permits.acquire(300ms, brief.token());
    run_until(s.io, [&] { return longer.done() || brief.done(); });
    BOOST_TEST(brief.done());
    BOOST_TEST(!longer.done());
    BOOST_TEST(brief.error() != error_code());
    run_until(s.io, [&] { return longer.done(); });
    s.finish();
    BOOST_TEST(ended == 2000u);
}

// The first waiter was told that the resource is held. The next one times out right after the start
// of its attempt. An attempt that is cut short tells nothing about the nodes.
BOOST_AUTO_TEST_CASE(row_40_a_waiter_that_is_cut_short_gets_the_last_known_error)
{
    scripted_backend store;
    store.outlook_is = errc::unreachable; // the error of an attempt without any answer
    some_bits random;
    core::locker_core locker(store, random, locker_options(), 1);
    const auto terms = core::terms_of(lock_options());
    locker.acquire(1, "A", terms, 1000ms, false, start);
    locker.acquire(2, "A", terms, 1500ms, false, start);
    store.refuse(store.latest, errc::contended);
    locker.wake(start + 1ms);
    for (const auto end = start + 1500ms; locker.wake_at() <= end;)
        locker.wake(locker.wake_at());
    for (const std::uint64_t tag : {1u, 2u}) {
        const auto told = locker.next_effect();
        BOOST_REQUIRE((told && told->kind == core::effect_kind::wait_ended));
        BOOST_TEST(told->tag == tag);
        BOOST_TEST(told->reason == errc::contended);
    }
    BOOST_TEST(store.attempts() >= 2u); // the second waiter has made an attempt
}

BOOST_AUTO_TEST_CASE(row_40_ten_thousand_waiters_are_served_in_order)
{
    cluster c(3);
    scene s(c.store());
    run(s.io, connect_all(s.locker()));
    std::vector<std::size_t> order;
    std::vector<steady::duration> waited;
    const auto begin = steady::now();
    const auto lock = s.lock(0);
    for (std::size_t i = 0; i < many; ++i)
        lock.acquire(forever, [&, i](error_code ec, lease held) {
            BOOST_REQUIRE_MESSAGE(!ec, ec.message());
            BOOST_REQUIRE(held.held());
            order.push_back(i);
            waited.push_back(steady::now() - begin);
        });
    run_until(
        s.io, [&] { return order.size() == many; }, 120s);
    BOOST_TEST(std::is_sorted(order.begin(), order.end()));
    const auto p99 = waited[many * 99 / 100];
    BOOST_TEST_MESSAGE(many << " waiters, 99 of 100 within " << p99 / 1ms << " ms");
    for (auto& node : c.nodes)
        BOOST_TEST(connected_clients(node) == 2u);
    s.finish();
    BOOST_TEST(c.empty_within(0s));
}

// Two nodes of three are up, and each locker is nearer to a different one of them. When both
// lockers ask at the same time, each gets one vote, and neither has a majority.
class split {
public:
    split() : nodes_(3), far_(nodes_.nodes[0].port()), also_far_(nodes_.nodes[1].port())
    {
        nodes_.nodes[2].kill();
        const auto dead = nodes_.nodes[2].url();
        lockers_.emplace_back(io.get_executor(),
            redlock({nodes_.nodes[0].url(), also_far_.url(), dead}, quick_options()));
        lockers_.emplace_back(
            io.get_executor(), redlock({far_.url(), nodes_.nodes[1].url(), dead}, quick_options()));
        run(io, connect_to_two(*this));
        far_.set({.to_server = {.delay = 3ms}});
        also_far_.set({.to_server = {.delay = 3ms}});
    }

    lock of(std::size_t which) { return lock(lockers_[which], "resource"); }
    locker_stats stats(std::size_t which) const { return lockers_[which].stats(); }

    void finish()
    {
        std::size_t open = lockers_.size();
        for (auto& each : lockers_)
            each.close([&](error_code) { --open; });
        run_until(io, [&] { return open == 0; });
        expect_no_work_left(io);
        BOOST_TEST(nodes_.nodes[0].command({"DBSIZE"}) == "0");
        BOOST_TEST(nodes_.nodes[1].command({"DBSIZE"}) == "0");
    }

    asio::io_context io;

private:
    static task connect_to_two(split& all)
    {
        const bool connected = co_await becomes_true([&all] {
            return std::all_of(
                all.lockers_.begin(), all.lockers_.end(), [](const holdfast::locker& each) {
                    const auto nodes = each.stats().nodes;
                    return nodes[0].connected && nodes[1].connected;
                });
        });
        BOOST_REQUIRE(connected);
    }

    cluster nodes_;
    fault_proxy far_, also_far_;
    std::deque<holdfast::locker> lockers_;
};

task take_a_turn(lock what, int& inside, std::vector<steady::duration>& waited)
{
    const auto begin = steady::now();
    lease held = co_await what.acquire(30s);
    waited.push_back(steady::now() - begin);
    BOOST_TEST(++inside == 1); // the only holder
    co_await pause(1ms);
    BOOST_TEST(held.held());
    --inside;
    co_await held.release();
}

BOOST_AUTO_TEST_CASE(row_40_two_clients_in_lock_step_that_split_the_votes)
{
    split s;
    int inside = 0;
    std::vector<steady::duration> waited;
    for (int round = 0; round < 40; ++round) { // both have a turn in each round
        std::vector<task> both;
        both.push_back(take_a_turn(s.of(0), inside, waited));
        both.push_back(take_a_turn(s.of(1), inside, waited));
        run(s.io, std::move(both));
    }
    for (const std::size_t which : {0u, 1u}) {
        const auto stats = s.stats(which);
        BOOST_TEST(stats.acquired == 40u);
        BOOST_TEST(stats.contended > 0u);       // the votes were split
        BOOST_TEST(stats.attempts < 40u * 40u); // but there was no tight loop
    }
    std::sort(waited.begin(), waited.end());
    const auto p99 = waited[waited.size() * 99 / 100];
    BOOST_TEST_MESSAGE("two in lock step, 99 of 100 turns within " << p99 / 1ms << " ms");
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
