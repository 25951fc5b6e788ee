// locker::drain(): no new leases, and the holders finish.
#include "contract/backend_contract.hpp"

#include <array>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(drain)

constexpr std::array all_types{asio::cancellation_type::terminal, asio::cancellation_type::partial,
    asio::cancellation_type::total};

task drain_with_a_holder(scene& s)
{
    lease held = co_await s.lock(0, brief()).acquire();
    call<lease> waits;
    s.lock(0).acquire(forever, waits.token());
    call<> drained;
    s.locker().drain(1h, drained.token());
    auto [refused, none] = co_await s.lock(0).try_acquire(no_throw);
    BOOST_TEST(refused == errc::closed);
    BOOST_TEST(waits.done());
    BOOST_TEST(waits.error() == errc::closed);

    co_await held.extend(); // a holder works on as before
    BOOST_TEST(held.held());
    BOOST_TEST(!drained.done());
    co_await held.release();
    co_await s.locker().drain(1h);
    BOOST_TEST(drained.done());
    BOOST_TEST(!drained.error());

    lease next = co_await s.lock(1).acquire(); // not in this locker, but at once in another
    BOOST_TEST(next.held());
    auto [still, nothing] = co_await s.lock(0).acquire(no_throw);
    BOOST_TEST(still == errc::closed);
}

BOOST_DATA_TEST_CASE(holders_finish, every_backend(), each)
{
    play(each.make(), 2, drain_with_a_holder);
}

// Readers inside have a slot already, which others of the process could share.
task drain_with_a_reader(scene& s)
{
    const read_write_lock book(s.locker(), s.resource, brief(60s));
    shared_lease held = co_await book.acquire_shared();
    call<> drained;
    s.locker().drain(1h, drained.token());
    auto [refused, none] = co_await book.acquire_shared(5s, no_throw);
    BOOST_TEST(refused == errc::closed);
    BOOST_TEST(!none);
    auto [tried, nothing] = co_await book.try_acquire_shared(no_throw);
    BOOST_TEST(tried == errc::closed);
    BOOST_TEST(held.held());
    BOOST_TEST(!drained.done());
    co_await held.release();
    co_await s.locker().drain(1h);
    BOOST_TEST(drained.done());
}

BOOST_DATA_TEST_CASE(no_reader_joins_those_inside, every_backend(), each)
{
    play(each.make(), 1, drain_with_a_reader);
}

task ignore_everything(lease&)
{
    co_await pause(1h);
}

task drain_at_a_deadline(scene& s)
{
    error_code why;
    std::string what;
    bool inside = false;
    auto body = [&inside](lease& held) {
        inside = true;
        return ignore_everything(held);
    };
    auto hold = s.lock(0, brief()).hold(body);
    asio::co_spawn(s.io, std::move(hold), [&](const std::exception_ptr& error) {
        try {
            std::rethrow_exception(error);
        } catch (const boost::system::system_error& e) {
            why = e.code();
            what = e.what();
        }
    });
    while (!inside)
        co_await pause(1ms);
    co_await s.locker().drain(1ms);
    BOOST_TEST(s.locker().stats().held == 0u);
    lease next = co_await s.lock(1).acquire();
    BOOST_TEST(next.held());
    while (!why)
        co_await pause(1ms);
    BOOST_TEST(why == errc::lease_lost);
    BOOST_TEST(what.starts_with(s.resource));
}

BOOST_DATA_TEST_CASE(the_body_of_a_hold_is_cancelled_at_the_deadline, every_backend(), each)
{
    play(each.make(), 2, drain_at_a_deadline);
}

task cancel_drains(scene& s)
{
    lease held = co_await s.lock(0, brief(60s)).acquire();
    for (const auto type : all_types) {
        call<> drained;
        s.locker().drain(1h, drained.token());
        drained.cancel(type);
        while (!drained.done())
            co_await pause(1ms);
        BOOST_TEST(drained.error() == asio::error::operation_aborted);
    }
    auto [refused, none] = co_await s.lock(0).try_acquire(no_throw);
    BOOST_TEST(refused == errc::closed); // it goes on draining
    BOOST_TEST(held.held());
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_only_the_waiting)
{
    play(any_backend(), 1, cancel_drains);
}

task close_during_a_drain(scene& s)
{
    lease held = co_await s.lock(0, brief(60s)).acquire();
    call<> drained, closed, lost;
    s.locker().drain(1h, drained.token());
    held.lost(lost.token());
    s.locker().close(closed.token());
    while (!lost.done())
        co_await pause(1ms);
    BOOST_TEST(lost.error() == errc::lease_lost);
    BOOST_TEST(!drained.done());
    BOOST_TEST(!closed.done());
    held = lease();
    co_await s.locker().drain(forever); // of a closing locker
    co_await s.locker().close();
    BOOST_TEST(drained.done());
    BOOST_TEST(!drained.error());
    co_await s.locker().drain(0ms); // of a closed one
}

BOOST_AUTO_TEST_CASE(closing_ends_a_drain)
{
    play(any_backend(), 1, close_during_a_drain);
}

BOOST_AUTO_TEST_CASE(destruction_ends_a_drain)
{
    asio::io_context io;
    call<> drained;
    lease held;
    {
        holdfast::locker locker(io.get_executor(), any_backend());
        run(io, [](holdfast::lock lock, lease& to) -> task {
            to = co_await lock.acquire();
        }(holdfast::lock(locker, unique_name(), brief(60s)), held));
        locker.drain(1h, drained.token());
    }
    held = lease();
    run_until(io, [&] { return drained.done(); });
    BOOST_TEST(!drained.error());
    expect_no_work_left(io);
}

BOOST_AUTO_TEST_CASE(a_destroyed_context_destroys_a_drain)
{
    call<> drained;
    lease held;
    {
        asio::io_context io;
        holdfast::locker locker(io.get_executor(), any_backend());
        run(io, [](holdfast::lock lock, lease& to) -> task {
            to = co_await lock.acquire();
        }(holdfast::lock(locker, unique_name(), brief(60s)), held));
        locker.drain(1h, drained.token());
        held = lease();
    }
    BOOST_TEST(!drained.done());
}

// A deadline far away does not keep the context busy once nothing is held.
task drain_twice(scene& s)
{
    co_await s.locker().drain(forever);
    co_await s.locker().drain(24h);
    co_await s.locker().drain(-1ms);
}

BOOST_AUTO_TEST_CASE(an_idle_locker_is_drained_at_once)
{
    play(any_backend(), 1, drain_twice);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
