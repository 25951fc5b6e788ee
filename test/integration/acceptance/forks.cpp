// Row 38: leases and operations in a child process that was forked.
#include "integration/acceptance/acceptance.hpp"
#include "integration/acceptance/verdict.hpp"
#include "support/call.hpp"
#include "support/fork.hpp"

#include <holdfast/batch.hpp>
#include <holdfast/election.hpp>
#include <holdfast/multi_lock.hpp>
#include <holdfast/read_write_lock.hpp>
#include <holdfast/semaphore.hpp>

#include <span>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_forks)

// Whatever the child does with its copy of the lease does not affect the parent.
template <class Work>
void hold_across_a_fork(Work work)
{
    cluster c(3);
    scene s(c.store());
    lease held;
    run(s.io, [](scene& all, cluster& nodes, lease& to) -> task {
        co_await connect_all(all.locker());
        to = co_await all.lock(0, with_ttl(5s)).acquire();
        const bool everywhere = co_await nodes.have_copies(all.resource, 3, 5s);
        BOOST_TEST(everywhere);
    }(s, c, held));
    const bool succeeded = in_a_fork(s.io, [&] { return work(s.io, held); });
    BOOST_TEST(succeeded);
    BOOST_TEST(c.copies(s.resource) == 3u);
    run(s.io, [](lease& ours) -> task {
        co_await ours.extend();
        const release_outcome outcome = co_await ours.release();
        BOOST_TEST(outcome == release_outcome::released);
    }(held));
    BOOST_TEST(s.locker().stats().nodes[0].connects == 1u);
    s.finish();
}

BOOST_AUTO_TEST_CASE(row_38_a_forked_child_drops_its_copy)
{
    hold_across_a_fork([](asio::io_context&, lease& copy) {
        copy = lease();
        return true;
    });
}

BOOST_AUTO_TEST_CASE(row_38_a_forked_child_releases_its_copy)
{
    hold_across_a_fork([](asio::io_context& io, lease& copy) {
        call<release_outcome> released;
        copy.release(released.token());
        call<> lost, extended;
        copy.lost(lost.token());
        copy.extend(extended.token());
        io.restart();
        io.run_for(10s);
        return copy.valid_until() < steady::now() && released.done() && !released.error() &&
               lost.error() == errc::lease_lost && extended.error() == errc::lease_lost &&
               released.result<release_outcome>() == release_outcome::expired;
    });
}

// Nothing of it is used afterwards, by the execution context for example.
BOOST_AUTO_TEST_CASE(row_38_a_forked_child_destroys_everything)
{
    cluster c(3);
    auto s = std::make_unique<scene>(c.store());
    lease held;
    run(s->io, [](scene& all, lease& to) -> task {
        co_await connect_all(all.locker());
        to = co_await all.lock(0, with_ttl(5s)).acquire();
    }(*s, held));
    const bool succeeded = in_a_fork(s->io, [&] {
        s->io.notify_fork(asio::io_context::fork_prepare);
        s->io.notify_fork(asio::io_context::fork_child); // as in a child of the child
        held = lease();
        s->io.restart();
        s->io.poll(); // no handler is left that keeps anything alive
        s.reset();
        return true;
    });
    BOOST_TEST(succeeded);
    BOOST_TEST(held.held());
    run(s->io, [](lease& ours) -> task {
        co_await ours.release();
    }(held));
    s->finish();
}

// Operations of all kinds. Others hold what they wait for.
struct pending_operations {
    explicit pending_operations(scene& s)
        : permit(s.locker(0), s.resource + ":permit", 1),
          pages(s.locker(0), s.resource + ":pages"),
          book(s.locker(0), s.resource + ":book"),
          office(s.locker(0), s.resource + ":office"),
          several(s.locker(0), {s.resource + ":first", s.resource + ":second"}),
          pair(s.locker(0), {s.resource + ":left", s.resource + ":right"}),
          requests(s.lock(0), [](lease&, std::span<int>) -> task { co_return; }),
          last_requests(lock(s.locker(0), s.resource + ":last"),
              [this](lease&, std::span<int>) { return stay(); })
    {}

    task stay()
    {
        ++at_work;
        co_await pause(1h);
    }

    // Until they wait, and what is held is held.
    task begin(scene& s)
    {
        co_await connect_all(s.locker(0));
        theirs.push_back(co_await s.lock(1).acquire());
        theirs.push_back(co_await semaphore(s.locker(1), permit.name(), 1).acquire());
        theirs.push_back(co_await read_write_lock(s.locker(1), pages.name()).acquire());
        theirs.push_back(co_await lock(s.locker(1), s.resource + ":second").acquire());
        both = co_await pair.acquire();
        ours = co_await lock(s.locker(0), s.resource + ":ours").acquire();
        reading = co_await book.acquire_shared();

        s.lock(0).acquire(forever, waits.token());
        requests.submit(1, submits.token());
        permit.acquire(forever, asks.token());
        pages.acquire_shared(forever, reads.token());
        pages.acquire(forever, writes.token());
        several.acquire(forever, joins.token());
        both.lost(watches_both.token());
        last_requests.submit(1, last_submits.token());
        ours.lost(watches.token());
        reading.lost(watches_shared.token());
        const auto work = [this](lease&) {
            return stay();
        };
        lock(s.locker(0), s.resource + ":held").hold(work, holds.token());
        office.run(work, leads.token());
        const bool all_work = co_await becomes_true([&] { return at_work == 3; });
        BOOST_TEST(all_work);
        last_requests.close(last_closes.token());
    }

    semaphore permit;
    read_write_lock pages, book;
    election office;
    multi_lock several, pair;
    batcher<int> requests, last_requests;
    std::vector<lease> theirs;
    lease ours;
    multi_lease both;
    shared_lease reading;
    int at_work = 0;
    call<lease> waits, asks, writes;
    call<shared_lease> reads;
    call<multi_lease> joins;
    call<> submits, last_submits, last_closes;
    call<> watches, watches_both, watches_shared, holds, leads;
    call<lock_list> lists;
};

// Work that does not stop when it is told to, and requests that are being served.
struct stubborn_work {
    explicit stubborn_work(scene& s)
        : requests(s.lock(0), [this](lease&, std::span<int>) -> task { return goes_on(); })
    {}

    task goes_on()
    {
        ++at_work;
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await pause(2s);
    }
    task begin(scene& s)
    {
        co_await connect_all(s.locker(0));
        requests.submit(1, submits.token());
        const auto work = [this](lease&) -> task {
            return goes_on();
        };
        lock(s.locker(0), s.resource + ":held").hold(work, holds.token());
        co_await becomes_true([&] { return at_work == 2; });
    }

    batcher<int> requests;
    int at_work = 0;
    call<> submits, holds;
};

// Its result may not count: the parent goes on, and has the lease.
BOOST_AUTO_TEST_CASE(row_38_work_that_goes_on_in_a_forked_child_has_lost_its_lease)
{
    cluster c(3);
    scene s(c.store());
    stubborn_work all(s);
    run(s.io, all.begin(s));
    const bool succeeded = in_a_fork(s.io, [&] {
        s.io.restart();
        s.io.run_for(10s);
        return all.holds.error() == errc::lease_lost && all.submits.error() == errc::lease_lost;
    });
    BOOST_TEST(succeeded);
    run(s.io, [](stubborn_work& each) -> task {
        co_await becomes_true([&] { return each.holds.done() && each.submits.done(); });
    }(all));
    BOOST_TEST(!all.holds.error(), all.holds.error().message());
    BOOST_TEST(!all.submits.error(), all.submits.error().message());
    s.finish();
}

// Every operation ends once, in the child as well. Work under a lease is stopped there.
BOOST_AUTO_TEST_CASE(row_38_pending_operations_end_in_a_forked_child)
{
    cluster c(3);
    scene s(c.store(), 2);
    pending_operations all(s);
    run(s.io, all.begin(s));
    s.locker(0).list("no such", all.lists.token());
    const bool succeeded = in_a_fork(s.io, [&] {
        s.io.restart();
        s.io.run_for(10s);
        verdict v{s.io.stopped()};
        v.expect("acquire", all.waits, errc::closed);
        v.expect("submit", all.submits, errc::closed);
        v.expect("permit", all.asks, errc::closed);
        v.expect("acquire_shared", all.reads, errc::closed);
        v.expect("writer", all.writes, errc::closed);
        v.expect("multi_lock", all.joins, errc::closed);
        v.expect("lost", all.watches, errc::lease_lost);
        v.expect("joint lost", all.watches_both, errc::lease_lost);
        v.expect("shared lost", all.watches_shared, errc::lease_lost);
        v.expect("hold", all.holds, errc::lease_lost);
        v.expect("batch", all.last_submits, errc::lease_lost);
        v.expect("close of a batcher", all.last_closes, error_code());
        v.expect("election", all.leads, errc::closed);
        v.expect("list", all.lists, errc::closed);
        return v.right && !all.ours.held() && !all.both.held() && !all.reading.held();
    });
    BOOST_TEST(succeeded);
    BOOST_TEST(!all.waits.done());
    BOOST_TEST(!all.holds.done());
    BOOST_TEST(!all.joins.done());
    BOOST_TEST(!all.last_closes.done());
    BOOST_TEST(all.ours.held());
    BOOST_TEST(all.both.held());
    all.theirs.clear();
    run(s.io, [](pending_operations& each) -> task {
        co_await becomes_true(
            [&] { return each.waits.done() && each.asks.done() && each.joins.done(); });
        BOOST_TEST(!each.waits.error(), each.waits.error().message());
        BOOST_TEST(!each.asks.error(), each.asks.error().message());
        BOOST_TEST(!each.joins.error(), each.joins.error().message());
    }(all));
    s.finish();
    BOOST_TEST(!all.last_closes.error(), all.last_closes.error().message());
    BOOST_TEST(all.last_closes.completions() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
