// Row 38: operations that begin in a child process that was forked, and ends of lockers there.
#include "integration/acceptance/acceptance.hpp"
#include "integration/acceptance/verdict.hpp"
#include "support/call.hpp"
#include "support/fork.hpp"

#include <holdfast/batch.hpp>
#include <holdfast/election.hpp>
#include <holdfast/multi_lock.hpp>
#include <holdfast/read_write_lock.hpp>

#include <span>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_forks)

// In the parent they wait for the holders.
BOOST_AUTO_TEST_CASE(row_38_a_drain_and_a_close_end_in_a_forked_child)
{
    cluster c(3);
    scene s(c.store(), 2);
    const std::vector<std::string> names{s.resource + ":drained", s.resource + ":closed"};
    std::vector<lease> held;
    call<> drains, closes;
    run(s.io, [](scene& all, cluster& nodes, auto names_of, std::vector<lease>& to) -> task {
        for (std::size_t i = 0; i < 2; ++i) {
            co_await connect_all(all.locker(i));
            const lock each(all.locker(i), names_of[i], well_guarded(60s));
            to.push_back(co_await each.acquire());
            const bool everywhere = co_await nodes.have_copies(names_of[i], 3, 5s);
            BOOST_TEST(everywhere);
        }
    }(s, c, names, held));
    s.locker(0).drain(forever, drains.token());
    s.locker(1).close(closes.token());
    const bool succeeded = in_a_fork(s.io, [&] {
        s.io.restart();
        s.io.run_for(10s);
        verdict v{s.io.stopped()};
        v.expect("pending drain", drains, error_code());
        v.expect("pending close", closes, error_code());
        for (std::size_t i = 0; i < 2; ++i) {
            call<> drain, close;
            s.locker(i).drain(forever, drain.token());
            s.locker(i).close(close.token());
            s.io.restart();
            s.io.run_for(10s);
            v.expect("drain", drain, error_code());
            v.expect("close", close, error_code());
        }
        return v.right;
    });
    BOOST_TEST(succeeded);
    BOOST_TEST(!drains.done());
    BOOST_TEST(!closes.done());
    for (const std::string& name : names)
        BOOST_TEST(c.copies(name) == 3u); // the child has deleted nothing
    held.clear();
    run_until(s.io, [&] { return drains.done() && closes.done(); });
    BOOST_TEST(!drains.error(), drains.error().message());
    BOOST_TEST(!closes.error(), closes.error().message());
    s.finish();
}

// Not answered at the fork, so the child does not learn what becomes of it.
BOOST_AUTO_TEST_CASE(row_38_a_pending_release_has_expired_in_a_forked_child)
{
    cluster c(3);
    scene s(c.store());
    lease held;
    run(s.io, [](scene& all, lease& to) -> task {
        co_await connect_all(all.locker());
        to = co_await all.lock(0, with_ttl(5s)).acquire();
    }(s, held));
    call<release_outcome> release;
    held.release(release.token());
    const bool succeeded = in_a_fork(s.io, [&] {
        s.io.restart();
        s.io.run_for(10s);
        verdict v{s.io.stopped()};
        v.expect("release", release, error_code());
        return v.right && release.result<release_outcome>() == release_outcome::expired;
    });
    BOOST_TEST(succeeded);
    run_until(s.io, [&] { return release.done(); });
    BOOST_TEST(!release.error(), release.error().message());
    BOOST_TEST(release.result<release_outcome>() == release_outcome::released);
    s.finish();
}

// The parent holds two leases.
BOOST_AUTO_TEST_CASE(row_38_operations_that_begin_in_a_forked_child_end_there)
{
    cluster c(3);
    scene s(c.store());
    const multi_lock several(s.locker(), {s.resource + ":a", s.resource + ":b"});
    const read_write_lock pages(s.locker(), s.resource + ":pages");
    const election office(s.locker(), s.resource + ":office");
    batcher<int> requests(s.lock(0), [](lease&, std::span<int>) -> task { co_return; });
    multi_lease both;
    shared_lease reading;
    run(s.io, [](scene& all, auto from, auto book, auto& to, auto& reader) -> task {
        co_await connect_all(all.locker());
        to = co_await from.acquire();
        reader = co_await book.acquire_shared();
    }(s, several, pages, both, reading));
    const bool succeeded = in_a_fork(s.io, [&] {
        call<lease> acquire, attempt, write;
        call<multi_lease> join, join_now;
        call<shared_lease> read;
        call<resource_report> observe;
        call<> hold, lead, submit, lost, lost_shared, end;
        call<release_outcome> released, released_shared;
        const auto work = [](lease&) -> task {
            co_return;
        };
        s.lock(0).acquire(forever, acquire.token());
        s.lock(0).try_acquire(attempt.token());
        s.lock(0).hold(work, hold.token());
        several.acquire(forever, join.token());
        several.try_acquire(join_now.token());
        pages.acquire(forever, write.token());
        pages.acquire_shared(read.token());
        office.run(work, lead.token());
        office.observe(observe.token());
        requests.submit(1, submit.token());
        both.lost(lost.token());
        reading.lost(lost_shared.token());
        s.io.restart();
        s.io.run_for(10s);
        both.release(released.token());
        reading.release(released_shared.token());
        requests.close(end.token());
        s.io.restart();
        s.io.run_for(10s);
        verdict v{s.io.stopped()};
        v.expect("acquire", acquire, errc::closed);
        v.expect("try_acquire", attempt, errc::closed);
        v.expect("hold", hold, errc::closed);
        v.expect("multi_lock", join, errc::closed);
        v.expect("try_acquire of a multi_lock", join_now, errc::closed);
        v.expect("writer", write, errc::closed);
        v.expect("acquire_shared", read, errc::closed);
        v.expect("election", lead, errc::closed);
        v.expect("observe", observe, errc::closed);
        v.expect("submit", submit, errc::closed);
        v.expect("joint lost", lost, errc::lease_lost);
        v.expect("shared lost", lost_shared, errc::lease_lost);
        v.expect("joint release", released, error_code());
        v.expect("shared release", released_shared, error_code());
        v.expect("close of a batcher", end, error_code());
        constexpr auto expired = release_outcome::expired;
        return v.right && released.result<release_outcome>() == expired &&
               released_shared.result<release_outcome>() == expired;
    });
    BOOST_TEST(succeeded);
    BOOST_TEST(both.held());
    BOOST_TEST(reading.held());
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
