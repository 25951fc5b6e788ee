// The class lease, and the lifetimes of locks and recipes.
#include "contract/backend_contract.hpp"

#include <holdfast/batch.hpp>
#include <holdfast/election.hpp>
#include <holdfast/multi_lock.hpp>
#include <holdfast/read_write_lock.hpp>
#include <holdfast/semaphore.hpp>

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(leases)

BOOST_DATA_TEST_CASE(the_destructor_releases, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        {
            lease held = co_await s.lock(0).acquire();
            BOOST_TEST(held.resource() == s.resource);
        }
        const auto gone = steady::now();
        lease next = co_await s.lock(1).acquire();
        BOOST_TEST((steady::now() - gone < 5s)); // the ttl is 10 s
        BOOST_TEST(next.held());
    });
}

BOOST_DATA_TEST_CASE(a_moved_from_lease_is_empty, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        const auto fence = held.fence();
        lease moved(std::move(held));
        BOOST_TEST(!held); // NOLINT: the state of a moved-from lease is documented
        BOOST_TEST(!held.held());
        BOOST_TEST(!held.fence());
        BOOST_TEST(held.resource().empty());
        BOOST_TEST((held.valid_until() == steady::time_point::min()));
        BOOST_TEST(moved.held());
        BOOST_TEST(bool(moved.fence() == fence));

        held = lease(); // an assignment to the moved-from lease does not release
        lease other = co_await s.lock(1).try_acquire();
        BOOST_TEST(!other);

        moved = lease(); // this assignment does
        lease next = co_await s.lock(1).acquire(5s);
        BOOST_TEST(next.held());
    });
}

BOOST_DATA_TEST_CASE(a_self_move_keeps_the_lease, every_backend(), each)
{
    play(each.make(), 1, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        lease& same = held;
        held = std::move(same);
        BOOST_TEST(held.held());
    });
}

BOOST_DATA_TEST_CASE(an_empty_lease_reports_not_held, every_backend(), each)
{
    play(each.make(), 1, [](scene&) -> task {
        lease none;
        BOOST_TEST(!none);
        BOOST_TEST(!none.held());
        auto [lost] = co_await none.lost(no_throw);
        BOOST_TEST(lost == errc::not_held);
        auto [extended] = co_await none.extend(no_throw);
        BOOST_TEST(extended == errc::not_held);
        auto [released, outcome] = co_await none.release(no_throw);
        BOOST_TEST(released == errc::not_held);
        BOOST_TEST(outcome == release_outcome::expired);
    });
}

BOOST_DATA_TEST_CASE(a_release_completes_lost, every_backend(), each)
{
    play(each.make(), 1, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        call<> one, two;
        held.lost(one.token());
        held.lost(two.token());
        co_await held.release();
        while (!one.done() || !two.done())
            co_await pause(1ms);
        BOOST_TEST(one.error() == errc::not_held);
        BOOST_TEST(two.error() == errc::not_held);
    });
}

task compare_tokens(scene& s, bool fenced)
{
    std::optional<std::uint64_t> last;
    for (std::size_t i = 0; i < 6; ++i) {
        lease held = co_await s.lock(i % 2).acquire();
        BOOST_REQUIRE(held.fence().has_value() == fenced);
        BOOST_TEST(bool(!fenced || !last || *last < *held.fence()));
        last = held.fence();
        co_await held.release();
    }
}

BOOST_DATA_TEST_CASE(fencing_tokens_increase_where_supported, every_backend(), each)
{
    play(each.make(), 2, [&](scene& s) { return compare_tokens(s, each.has_tokens); });
}

BOOST_DATA_TEST_CASE(a_lease_may_outlive_its_locker, every_backend(), each)
{
    scene s(each.make(), 1);
    lease held;
    {
        holdfast::locker brief_life(s.io.get_executor(), each.make());
        const holdfast::lock lock(brief_life, s.resource);
        run(s.io, [](holdfast::lock what, lease& to) -> task {
            to = co_await what.acquire();
        }(lock, held));
        BOOST_TEST(held.held());
    }
    call<> lost;
    held.lost(lost.token());
    run_until(s.io, [&] { return lost.done(); });
    BOOST_TEST(lost.error() == errc::lease_lost);
    held = lease();
    run(s.io, [](scene& all) -> task {
        lease next = co_await all.lock(0).acquire(5s);
        BOOST_TEST(next.held());
    }(s));
    s.finish();
}

// Operations that must all fail, because their locker is closed.
class refused {
public:
    explicit refused(asio::io_context& io) : io_(io) {}

    auto token(const char* what)
    {
        ++begun_;
        return [this, what](auto error, auto&&... results) {
            BOOST_TEST_CONTEXT(what)
            {
                const error_code why = code_of(error);
                BOOST_TEST(why == errc::closed, why.message());
                (expect_empty(results), ...);
            }
            ++ended_;
        };
    }
    void run_all()
    {
        run_until(io_, [this] { return ended_ == begun_; });
        expect_no_work_left(io_);
        BOOST_TEST(ended_ == begun_);
    }

private:
    template <class Result>
    static void expect_empty(const Result& result)
    {
        if constexpr (std::is_constructible_v<bool, const Result&>)
            BOOST_TEST(!result);
    }

    asio::io_context& io_;
    int begun_ = 0, ended_ = 0;
};

// One of each kind.
struct recipes_of {
    recipes_of(holdfast::locker& owner, const std::string& name)
        : single(owner, name + ":single", patient()),
          permits(owner, name + ":permits", 2, patient()),
          several(owner, {name + ":a", name + ":b"}, patient()),
          book(owner, name + ":book", patient()),
          office(owner, name + ":office", patient()),
          requests(single, [](lease&, std::span<int>) -> task { co_return; })
    {}

    static lock_options patient()
    {
        lock_options options;
        options.wait = forever;
        return options;
    }

    holdfast::lock single;
    semaphore permits;
    multi_lock several;
    read_write_lock book;
    election office;
    batcher<int> requests;
};

void wait_for_all(recipes_of& all, refused& calls)
{
    all.single.acquire(calls.token("lock"));
    all.permits.acquire(calls.token("semaphore"));
    all.several.acquire(calls.token("multi_lock"));
    all.book.acquire(calls.token("writer"));
    all.book.acquire_shared(calls.token("reader"));
    all.office.campaign(calls.token("campaign"));
    all.requests.submit(1, calls.token("batcher"));
}

void try_all(recipes_of& all, refused& calls)
{
    all.single.try_acquire(calls.token("try_acquire of a lock"));
    all.permits.try_acquire(calls.token("try_acquire of a semaphore"));
    all.several.try_acquire(calls.token("try_acquire of a multi_lock"));
    all.book.try_acquire(calls.token("try_acquire of a writer"));
    all.book.try_acquire_shared(calls.token("try_acquire of a reader"));
    all.office.observe(calls.token("observe"));
}

template <class Lease>
task never_runs(Lease&)
{
    BOOST_ERROR("work runs without a lease");
    co_return;
}

void hold_all(recipes_of& all, refused& calls)
{
    all.single.hold(never_runs<lease>, calls.token("hold of a lock"));
    all.permits.hold(never_runs<lease>, calls.token("hold of a semaphore"));
    all.several.hold(never_runs<multi_lease>, calls.token("hold of a multi_lock"));
    all.book.hold(never_runs<lease>, calls.token("hold of a writer"));
    all.book.hold_shared(never_runs<shared_lease>, calls.token("hold of a reader"));
    all.office.run(never_runs<lease>, calls.token("election"));
}

BOOST_AUTO_TEST_CASE(locks_and_recipes_may_outlive_their_locker)
{
    asio::io_context io;
    auto owner = std::make_unique<holdfast::locker>(io.get_executor(), any_backend());
    recipes_of all(*owner, unique_name());
    owner.reset();
    refused calls(io);
    try_all(all, calls);
    wait_for_all(all, calls);
    hold_all(all, calls);
    all.office.resign();
    BOOST_TEST(!all.several.explain(errc::closed).empty());
    calls.run_all();
    call<> end;
    all.requests.close(end.token());
    run_until(io, [&] { return end.done(); });
    BOOST_TEST(!end.error(), end.error().message());
}

BOOST_AUTO_TEST_CASE(waits_end_when_their_locker_is_destroyed)
{
    asio::io_context io;
    const backend store = any_backend();
    const std::string name = unique_name();
    auto theirs = std::make_unique<holdfast::locker>(io.get_executor(), store);
    auto ours = std::make_unique<holdfast::locker>(io.get_executor(), store);
    recipes_of taken(*theirs, name), all(*ours, name);
    std::vector<lease> held;
    multi_lease pair;
    run(io, [](recipes_of& from, std::vector<lease>& to, multi_lease& both) -> task {
        to.push_back(co_await from.single.acquire());
        for (std::size_t i = 0; i < from.permits.permits(); ++i)
            to.push_back(co_await from.permits.acquire());
        to.push_back(co_await from.book.acquire());
        to.push_back(co_await from.office.campaign());
        both = co_await from.several.acquire();
    }(taken, held, pair));
    refused calls(io);
    wait_for_all(all, calls);
    hold_all(all, calls);
    run_until(io, [&] { return ours->stats().waiting >= 10; }); // readers share one wait
    ours.reset();
    held.clear();
    pair = multi_lease();
    theirs.reset();
    calls.run_all();
}

BOOST_AUTO_TEST_CASE(leases_of_recipes_may_outlive_their_locker)
{
    asio::io_context io;
    auto owner = std::make_unique<holdfast::locker>(io.get_executor(), any_backend());
    recipes_of all(*owner, unique_name());
    lease permit;
    multi_lease pair;
    shared_lease reading;
    run(io, [](recipes_of& from, lease& one, multi_lease& both, shared_lease& reader) -> task {
        one = co_await from.permits.acquire();
        both = co_await from.several.acquire();
        reader = co_await from.book.acquire_shared();
    }(all, permit, pair, reading));
    owner.reset();
    call<> one, two, three;
    permit.lost(one.token());
    pair.lost(two.token());
    reading.lost(three.token());
    run_until(io, [&] { return one.done() && two.done() && three.done(); });
    for (const call<>* const each : {&one, &two, &three})
        BOOST_TEST(each->error() == errc::lease_lost, each->error().message());
    call<release_outcome> permit_gone, pair_gone, reader_gone;
    permit.release(permit_gone.token());
    pair.release(pair_gone.token());
    reading.release(reader_gone.token());
    run_until(io, [&] { return permit_gone.done() && pair_gone.done() && reader_gone.done(); });
    for (const call<release_outcome>* const each : {&permit_gone, &pair_gone, &reader_gone})
        BOOST_TEST(!each->error(), each->error().message());
    expect_no_work_left(io);
}

// Nothing runs an execution context here.
BOOST_AUTO_TEST_CASE(operations_on_empty_leases_complete_on_the_system_executor)
{
    const auto expect_not_held = [](auto begin) {
        using answer = std::pair<error_code, std::thread::id>;
        const auto told = std::make_shared<std::promise<answer>>();
        auto result = told->get_future();
        begin([told](error_code why, auto&&...) {
            told->set_value({why, std::this_thread::get_id()});
        });
        BOOST_REQUIRE((result.wait_for(hang_limit) == std::future_status::ready));
        const auto [why, where] = result.get();
        BOOST_TEST(why == errc::not_held);
        BOOST_TEST((where != std::this_thread::get_id()));
    };
    lease one;
    multi_lease several;
    shared_lease shared;
    expect_not_held([&](auto token) { one.lost(token); });
    expect_not_held([&](auto token) { one.extend(token); });
    expect_not_held([&](auto token) { one.release(token); });
    expect_not_held([&](auto token) { several.lost(token); });
    expect_not_held([&](auto token) { several.release(token); });
    expect_not_held([&](auto token) { shared.lost(token); });
    expect_not_held([&](auto token) { shared.release(token); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
