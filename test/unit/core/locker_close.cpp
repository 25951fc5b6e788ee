// Closing a locker, and fairness towards other processes.
#include "core/locker_core.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;

namespace {

// A connection with bytes that are not written yet.
class crowded_connection final : public connection {
public:
    const address& target() const noexcept override { return nowhere_; }
    bool wants_open() const noexcept override { return true; }
    void opened(time_point) override {}
    void closed(holdfast::error_code, time_point) override {}
    std::span<char> read_space() override { return {}; }
    void received(std::size_t, time_point) override {}
    std::string_view output() const noexcept override { return unsent; }
    void written(std::size_t n, time_point) override { unsent.erase(0, n); }

    std::string unsent = std::string(100, '.');

private:
    address nowhere_;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_locker_close, locker_fixture)

// An idle locker is closed at once, and reports that once.
BOOST_AUTO_TEST_CASE(closes_at_once_when_idle)
{
    locker.close(now);
    locker.close(now);
    locker.wake(now);
    BOOST_TEST(effects() == "closed");
    BOOST_TEST(calls() == "close");
    BOOST_TEST(locker.wake_at() == never);
}

// After close() no wait is accepted, not even while leases are still being released.
BOOST_AUTO_TEST_CASE(no_wait_is_accepted_after_close)
{
    acquire(1);
    granted();
    locker.close(now);
    effects();
    BOOST_TEST(acquire(2, "B") == 0u);
    BOOST_TEST(try_acquire(3, "C") == 0u);
    BOOST_TEST(effects() == "2 ended: closed, 3 ended: closed");
}

// All waits end, those with an attempt and those behind them. Open attempts are abandoned.
BOOST_AUTO_TEST_CASE(all_waits_end)
{
    acquire(1, "A", holdfast::forever);
    acquire(2, "A");
    try_acquire(3, "B");
    acquire(4, "C");
    refuse();
    calls();
    locker.close(now);
    BOOST_TEST(effects() == "1 ended: closed, 2 ended: closed, 3 ended: closed, "
                            "4 ended: closed, closed");
    BOOST_TEST(calls() == "abandon A, abandon B, close");
    BOOST_TEST(stats().waiting == 0u);
}

// Work under leases is told to stop at once and has a guard time for that. Then the leases are
// released, and only then is the locker closed.
BOOST_AUTO_TEST_CASE(leases_have_a_guard_time)
{
    acquire(1);
    granted();
    calls();
    pass(1s);
    locker.close(now);
    BOOST_TEST(effects() == "must stop");
    BOOST_TEST(calls() == "");
    sleep_until(at(1450ms) - 1ns);
    BOOST_TEST(effects() == "");
    sleep_until(at(1450ms));
    BOOST_TEST(effects() == "closed");
    BOOST_TEST(calls() == "release A, close");
}

// The locker is closed earlier if all leases are released before the guard time is over.
BOOST_AUTO_TEST_CASE(closes_when_the_last_lease_is_released)
{
    acquire(1);
    const slot_id lease = granted();
    store.deletions = 1;
    locker.close(now);
    BOOST_TEST(effects() == "must stop");
    locker.release(lease, 77, now);
    BOOST_TEST(effects() == "gone");
    store.end_release(1);
    store.deletions = 0;
    locker.wake(now);
    BOOST_TEST(effects() == "77 released, closed");
}

// Nobody would end a release later.
BOOST_AUTO_TEST_CASE(releases_without_an_answer_end_with_the_locker)
{
    acquire(1);
    const slot_id lease = granted();
    store.deletions = 1;
    locker.release(lease, 77, now);
    locker.close(now);
    BOOST_TEST(effects() == "gone");
    sleep_until(at(500ms));
    BOOST_TEST(effects() == "77 unconfirmed, closed");
    BOOST_TEST(locker.wake_at() == never);
}

BOOST_AUTO_TEST_CASE(nothing_is_under_way_after_the_end)
{
    acquire(1);
    locker.close(now);
    BOOST_TEST(effects() == "1 ended: closed, closed");
    BOOST_TEST(stats().asking == 0u);
}

// The locker waits for the confirmation of releases for a limited time: a dead node cannot keep a
// locker open.
BOOST_AUTO_TEST_CASE(closing_is_bounded)
{
    acquire(1);
    const slot_id lease = granted();
    store.deletions = 1;
    locker.close(now);
    locker.drop(lease, now);
    BOOST_TEST(effects() == "must stop, gone");
    sleep_until(at(500ms) - 1ns);
    BOOST_TEST(effects() == "");
    sleep_until(at(500ms));
    BOOST_TEST(effects() == "closed");
    BOOST_TEST(locker.wake_at() == never);
}

// Releasing 100,000 leases takes longer than half a second. Closing goes on while nodes answer.
BOOST_AUTO_TEST_CASE(closing_goes_on_while_deletions_are_answered)
{
    acquire(1);
    const slot_id lease = granted();
    store.deletions = 100;
    locker.close(now);
    locker.drop(lease, now);
    effects();
    for (; store.deletions != 0; --store.deletions) {
        sleep_until(now + 400ms);
        BOOST_TEST(effects() == "");
    }
    locker.wake(now);
    BOOST_TEST(effects() == "closed");
    BOOST_TEST(calls() == "attempt A, release A, close");
}

// A request that is not written yet cannot have been answered: our own event loop may be that slow.
BOOST_AUTO_TEST_CASE(closing_goes_on_while_deletions_are_written)
{
    crowded_connection link;
    store.links = {&link};
    acquire(1);
    const slot_id lease = granted();
    store.deletions = 100;
    locker.close(now);
    locker.drop(lease, now);
    effects();
    while (!link.unsent.empty()) {
        pass(600ms);
        link.written(50, now);
        locker.wake(now);
        BOOST_TEST(effects() == "");
    }
    sleep_until(now + 499ms);
    BOOST_TEST(effects() == "");
    sleep_until(now + 1ms);
    BOOST_TEST(effects() == "closed");
    store.links.clear();
}

// Before the locker stops waiting for answers, it reads those that have arrived.
BOOST_AUTO_TEST_CASE(closing_reads_all_answers_that_have_arrived)
{
    acquire(1);
    const slot_id lease = granted();
    store.deletions = 2;
    locker.close(now);
    locker.drop(lease, now);
    effects();
    pass(600ms);
    locker.wake(now, at(499ms));
    BOOST_TEST(effects() == "");
    store.deletions = 1;
    locker.wake(now);
    BOOST_TEST(effects() == "");
    sleep_until(at(1100ms) - 1ns);
    BOOST_TEST(effects() == "");
    sleep_until(at(1100ms));
    BOOST_TEST(effects() == "closed");
}

// As soon as everything is confirmed, the locker is closed.
BOOST_AUTO_TEST_CASE(closing_ends_when_all_releases_are_confirmed)
{
    acquire(1);
    const slot_id lease = granted();
    store.deletions = 1;
    locker.close(now);
    locker.drop(lease, now);
    store.deletions = 0;
    locker.wake(at(1ms));
    BOOST_TEST(effects() == "must stop, gone, closed");
}

// Lease objects may outlive the closing of their locker.
BOOST_AUTO_TEST_CASE(leases_outlive_the_closing)
{
    acquire(1);
    const slot_id lease = granted();
    locker.close(now);
    sleep_until(at(1s));
    BOOST_TEST(effects() == "must stop, closed");
    BOOST_TEST(locker.extend(lease, now) == errc::lease_lost);
    BOOST_TEST(locker.release(lease, 77, now));
    BOOST_TEST(effects() == "77 expired, gone");
    locker.drop(lease, now);
    BOOST_TEST(effects() == "");
}

// Within the budget, a lease goes from one local holder to the next at once. Then other processes
// have a turn: a pause of at least half of retry_min. After that the count starts again.
BOOST_AUTO_TEST_CASE(the_transfer_limit)
{
    usual.handoff_limit = 3;
    for (std::uint64_t tag = 1; tag <= 10; ++tag)
        acquire(tag, "A", holdfast::forever);
    slot_id lease = granted();
    for (const bool yields : {false, false, false, true, false, false, false, true}) {
        calls();
        locker.drop(lease, now);
        BOOST_TEST(store.calls.front() == (yields ? "release A" : "transfer A"));
        if (yields) {
            const time_point dropped = now;
            sleep_until_asked();
            BOOST_TEST(now >= dropped + 4ms);
            BOOST_TEST(now <= dropped + 8ms);
            lease = granted();
        } else {
            lease = handed_over();
        }
    }
    BOOST_TEST(stats().acquired == 9u);
    BOOST_TEST(stats().handed_over == 6u);
}

// The budget also has a time limit, counted from the first holder.
BOOST_AUTO_TEST_CASE(the_transfer_time_limit)
{
    usual.handoff_time = 100ms;
    for (std::uint64_t tag = 1; tag <= 4; ++tag)
        acquire(tag, "A", holdfast::forever);
    slot_id lease = granted();
    pass(60ms);
    locker.drop(lease, now);
    lease = handed_over();
    pass(40ms);
    locker.drop(lease, now);
    BOOST_TEST(handed_over() == 0u);
    sleep_until_asked();
    BOOST_TEST(store.attempts() == 2u);
    lease = granted();
    pass(60ms);
    locker.drop(lease, now);
    BOOST_TEST(handed_over() != 0u);
}

// The budget exists for other processes. While none of them waits, it is not used up. The backend
// is asked about them early enough.
BOOST_AUTO_TEST_CASE(transfers_go_on_while_no_other_process_waits)
{
    usual.handoff_limit = 4;
    for (std::uint64_t tag = 1; tag <= 12; ++tag)
        acquire(tag, "A", holdfast::forever);
    slot_id lease = granted();
    calls();
    for (int i = 0; i < 4; ++i) {
        locker.drop(lease, now);
        lease = handed_over();
    }
    BOOST_TEST(calls() == "transfer A, probe waiters A, transfer A, transfer A, transfer A");
    store.nobody_else_waits(1);
    for (int i = 0; i < 4; ++i) {
        locker.drop(lease, now);
        lease = handed_over();
    }
    BOOST_TEST(calls() == "transfer A, probe waiters A, transfer A, transfer A, transfer A");
    locker.drop(lease, now); // no answer: another process may wait
    BOOST_TEST(calls() == "release A");
}

// While the answer about other waiters is pending, transfers go on, but not beyond the time limit.
BOOST_AUTO_TEST_CASE(a_pending_probe_prolongs_transfers)
{
    usual.handoff_limit = 1;
    usual.handoff_time = 100ms;
    for (std::uint64_t tag = 1; tag <= 6; ++tag)
        acquire(tag, "A", holdfast::forever);
    slot_id lease = granted();
    calls();
    store.probes_take_time = true;
    for (int i = 0; i < 3; ++i) {
        locker.drop(lease, now);
        lease = handed_over();
    }
    BOOST_TEST(calls() == "transfer A, probe waiters A, transfer A, transfer A");
    pass(100ms);
    locker.drop(lease, now);
    BOOST_TEST(calls() == "release A");
}

// Waits with different limits reach the time to ask at different numbers of turns.
BOOST_AUTO_TEST_CASE(only_one_probe_is_pending)
{
    for (std::uint64_t tag = 1; tag <= 4; ++tag) {
        usual.handoff_limit = 4 * tag - 4;
        acquire(tag, "A", holdfast::forever);
    }
    slot_id lease = granted();
    calls();
    store.probes_take_time = true;
    for (int i = 0; i < 2; ++i) {
        locker.drop(lease, now);
        lease = handed_over();
    }
    BOOST_TEST(calls() == "transfer A, probe waiters A, transfer A");
    store.end_probe(1, true);
    locker.wake(now);
    locker.drop(lease, now);
    BOOST_TEST(calls() == "transfer A");
}

BOOST_AUTO_TEST_CASE(transfers_end_when_other_processes_wait)
{
    usual.handoff_limit = 1;
    for (std::uint64_t tag = 1; tag <= 6; ++tag)
        acquire(tag, "A", holdfast::forever);
    slot_id lease = granted();
    store.probes_take_time = true;
    for (int i = 0; i < 3; ++i) {
        locker.drop(lease, now);
        lease = handed_over();
    }
    store.end_probe(1, false);
    calls();
    locker.drop(lease, now);
    BOOST_TEST(calls() == "release A");
}

// If the backend has a queue, the locker queues behind other processes, without a pause.
BOOST_AUTO_TEST_CASE(a_spent_budget_leads_to_the_queue)
{
    store.has_queue = true;
    usual.handoff_limit = 0;
    acquire(1);
    acquire(2);
    locker.drop(granted(), now);
    BOOST_TEST(calls() == "attempt A, release A, attempt in queue A");
    locker.drop(granted(), now);
    acquire(3);
    BOOST_TEST(calls() == "release A, attempt A"); // no other local waiter: a new count
}

// Without a budget other processes have a turn after every release.
BOOST_AUTO_TEST_CASE(no_budget)
{
    usual.handoff_limit = 0;
    acquire(1);
    acquire(2);
    locker.drop(granted(), now);
    BOOST_TEST(calls() == "attempt A, release A");
    sleep_until_asked();
    BOOST_TEST(calls() == "attempt A");
}

BOOST_AUTO_TEST_SUITE_END()
