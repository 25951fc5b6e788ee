// On which executor and when completion handlers run.
#include "contract/backend_contract.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <thread>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(handlers)

// Counts the handlers, and checks where and when they run.
class observer {
public:
    explicit observer(asio::io_context& io) : io_(io), strand_(asio::make_strand(io)) {}

    // A completion token: a callback on the strand.
    auto token()
    {
        return asio::bind_executor(strand_, [this](auto error, auto&&... results) {
            BOOST_TEST(!initiating_, "a handler ran inside the call that started the operation");
            BOOST_TEST(strand_.running_in_this_thread());
            error_ = code_of(error);
            keep(std::move(results)...);
            ++ran_;
        });
    }

    // Starts an operation and runs the context until its handler has run.
    template <class Start>
    error_code after(Start start)
    {
        const int before = ran_;
        initiating_ = true;
        start();
        initiating_ = false;
        run_until(io_, [&] { return ran_ != before; });
        BOOST_TEST(ran_ == before + 1);
        return error_;
    }

    lease last;

private:
    void keep(lease granted) { last = std::move(granted); }
    template <class... Others>
    void keep(Others&&...)
    {}

    asio::io_context& io_;
    asio::strand<asio::io_context::executor_type> strand_;
    bool initiating_ = false;
    int ran_ = 0;
    error_code error_;
};

task nothing(lease&)
{
    co_return;
}

BOOST_DATA_TEST_CASE(handlers_run_on_their_executor_after_the_call, every_backend(), each)
{
    scene s(each.make(), 2);
    observer o(s.io);
    BOOST_TEST(!o.after([&] { s.lock(0).acquire(o.token()); }));
    BOOST_TEST(o.last.held());
    lease held = std::move(o.last);
    BOOST_TEST(!o.after([&] { s.lock(0).try_acquire(o.token()); }));
    BOOST_TEST(!o.after([&] { s.lock(1).try_acquire(o.token()); }));
    BOOST_TEST(!o.after([&] { held.extend(o.token()); }));
    BOOST_TEST(!o.after([&] { held.release(o.token()); }));
    BOOST_TEST(!o.after([&] { s.lock(0).hold(nothing, o.token()); }));
    BOOST_TEST(!o.after([&] { s.locker().close(o.token()); }));
    s.finish();
}

BOOST_DATA_TEST_CASE(handlers_of_immediate_results_run_after_the_call, every_backend(), each)
{
    scene s(each.make(), 1);
    observer o(s.io);
    lease empty;
    BOOST_TEST(o.after([&] { empty.lost(o.token()); }) == errc::not_held);
    BOOST_TEST(o.after([&] { empty.extend(o.token()); }) == errc::not_held);
    BOOST_TEST(o.after([&] { empty.release(o.token()); }) == errc::not_held);

    BOOST_TEST(!o.after([&] { s.lock(0, unrenewed()).acquire(o.token()); }));
    lease held = std::move(o.last);
    BOOST_TEST(o.after([&] { held.lost(o.token()); }) == errc::lease_lost);
    BOOST_TEST(o.after([&] { held.lost(o.token()); }) == errc::lease_lost);
    BOOST_TEST(o.after([&] { held.extend(o.token()); }) == errc::lease_lost);
    o.after([&] { held.release(o.token()); });
    BOOST_TEST(o.after([&] { held.release(o.token()); }) == errc::not_held);
    BOOST_TEST(o.after([&] { held.lost(o.token()); }) == errc::not_held);

    BOOST_TEST(!o.after([&] { s.locker().close(o.token()); }));
    BOOST_TEST(o.after([&] { s.lock(0).acquire(o.token()); }) == errc::closed);
    BOOST_TEST(o.after([&] { s.lock(0).hold(nothing, o.token()); }) == errc::closed);
    BOOST_TEST(!o.after([&] { s.locker().close(o.token()); }));
    s.finish();
}

// Acquires with a handler that has its own executor and is passed through `wrap`. The handler must
// run on that executor, and the wait counts as work of that executor until then.
template <class Wrap>
void acquire_elsewhere(scene& s, Wrap wrap)
{
    asio::io_context elsewhere;
    bool ran = false;
    s.lock(0).acquire(wrap(asio::bind_executor(elsewhere, [&](error_code ec, const lease& granted) {
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(granted.held());
        BOOST_TEST(elsewhere.get_executor().running_in_this_thread());
        ran = true;
    })));
    std::thread other([&] { elsewhere.run(); });
    run_until(s.io, [&] { return s.locker().stats().released == 1; });
    other.join();
    BOOST_TEST(ran);
    s.finish();
}

BOOST_DATA_TEST_CASE(a_wait_counts_as_work_of_its_executor, every_backend(), each)
{
    scene s(each.make(), 1);
    acquire_elsewhere(s, [](auto handler) { return handler; });
}

// The executor of a type-erased handler has a type of its own.
BOOST_DATA_TEST_CASE(
    a_wait_with_a_type_erased_handler_counts_as_work_of_its_executor, every_backend(), each)
{
    scene s(each.make(), 1);
    acquire_elsewhere(s, [](auto handler) {
        return asio::any_completion_handler<void(error_code, lease)>(std::move(handler));
    });
}

template <class... Results, class Handler>
asio::any_completion_handler<void(error_code, Results...)> erased(Handler handler)
{
    return asio::any_completion_handler<void(error_code, Results...)>(std::move(handler));
}

BOOST_AUTO_TEST_CASE(erased_handlers_of_empty_leases_run_on_their_executor)
{
    asio::io_context io;
    int ran = 0;
    const auto note = asio::bind_executor(io, [&](error_code ec, auto&&...) {
        BOOST_TEST(ec == errc::not_held);
        BOOST_TEST(io.get_executor().running_in_this_thread());
        ++ran;
    });
    lease empty;
    const auto work = asio::make_work_guard(io);
    empty.lost(erased<>(note));
    empty.extend(erased<>(note));
    empty.release(erased<release_outcome>(note));
    BOOST_TEST(ran == 0);
    run_until(io, [&] { return ran == 3; });
}

// The code that posted the handler must not touch the context any more; the thread sanitizer checks
// that.
BOOST_AUTO_TEST_CASE(the_context_of_an_erased_handler_may_be_destroyed_once_it_runs)
{
    for (int i = 0; i < 300; ++i) {
        asio::io_context io;
        const lease empty;
        empty.lost(erased<>(asio::bind_executor(io, [&](error_code) { io.stop(); })));
        BOOST_TEST(io.run() == 1u);
    }
}

BOOST_DATA_TEST_CASE(handlers_without_an_executor_run_on_that_of_the_locker, every_backend(), each)
{
    scene s(each.make(), 1);
    int ran = 0;
    lease held;
    const auto note = [&](auto&&...) {
        BOOST_TEST(s.io.get_executor().running_in_this_thread());
        ++ran;
    };
    const auto keep = [&](error_code, lease granted) {
        held = std::move(granted);
        note();
    };
    const auto until = [&](int count) {
        run_until(s.io, [&] { return ran == count; });
    };
    s.lock(0).acquire(keep);
    until(1);
    held.release(erased<release_outcome>(note));
    until(2);
    s.lock(0).acquire(erased<lease>(keep));
    until(3);
    held.extend(erased<>(note));
    until(4);
    held.lost(erased<>(note));
    held.release(note);
    until(6);
    s.locker().close(erased<>(note));
    until(7);
    s.finish();
}

asio::awaitable<int> seven(lease&)
{
    co_return 7;
}

// Runs a context in a thread, until it goes out of scope.
struct runner {
    explicit runner(asio::io_context& context) : io(context) {}
    ~runner()
    {
        io.stop();
        thread.join();
    }
    asio::io_context& io;
    asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(io);
    std::thread thread{[this] {
        io.run();
    }};
};

// The exception comes last: with the thread sanitizer it can take longer than the node timeout.
BOOST_DATA_TEST_CASE(futures_work_and_carry_exceptions, every_backend(), each)
{
    scene s(each.make(), 2);
    {
        runner running(s.io);
        lease held = s.lock(0).acquire(asio::use_future).get();
        BOOST_TEST(held.held());
        held.extend(asio::use_future).get();
        BOOST_TEST(held.release(asio::use_future).get() == release_outcome::released);
        BOOST_TEST(s.lock(0).hold(seven, asio::use_future).get() == 7);
        held = s.lock(0).acquire(asio::use_future).get();
        asio::co_spawn(s.io, connect(s.locker(1)), asio::use_future).get();
        auto refused = s.lock(1).acquire(1s, asio::use_future);
        BOOST_CHECK_EXCEPTION(held = refused.get(), boost::system::system_error,
            [](auto& e) { return e.code() == errc::contended; });
    }
    s.finish();
}

BOOST_DATA_TEST_CASE(detached_operations_leak_no_lease, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        s.lock(0).acquire(asio::detached); // released at once, since the lease is not taken
        while (s.locker().stats().released == 0)
            co_await pause(1ms);
        lease held = co_await s.lock(1).acquire(5s);
        held.release(asio::detached);
        lease next = co_await s.lock(0).acquire(5s);
        next.lost(asio::detached);
        BOOST_TEST(next.held());
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
