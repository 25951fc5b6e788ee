// Where and when completion handlers run.
#include "contract/backend_contract.hpp"

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

// Counts the handlers that ran where and when they should.
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

BOOST_DATA_TEST_CASE(they_run_on_their_executor_after_the_call, every_backend, each)
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

BOOST_DATA_TEST_CASE(so_do_those_whose_result_is_known_at_once, every_backend, each)
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

// A handler with an executor of its own keeps that executor's context running.
BOOST_DATA_TEST_CASE(a_wait_counts_as_work_of_its_executor, every_backend, each)
{
    scene s(each.make(), 1);
    asio::io_context elsewhere;
    bool ran = false;
    s.lock(0).acquire(asio::bind_executor(elsewhere, [&](error_code ec, const lease& granted) {
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(granted.held());
        ran = true;
    }));
    std::thread other([&] { elsewhere.run(); });
    run_until(s.io, [&] { return s.locker().stats().released == 1; });
    other.join();
    BOOST_TEST(ran);
    s.finish();
}

asio::awaitable<int> seven(lease&)
{
    co_return 7;
}

// Runs a context, until it goes out of scope.
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

// The exception comes last: the thread sanitizer can take longer over it than a node may over its
// answer.
BOOST_DATA_TEST_CASE(futures_work_and_carry_exceptions, every_backend, each)
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
        auto refused = s.lock(1).acquire(20ms, asio::use_future);
        BOOST_CHECK_EXCEPTION(held = refused.get(), boost::system::system_error,
            [](auto& e) { return e.code() == errc::contended; });
    }
    s.finish();
}

BOOST_DATA_TEST_CASE(detached_operations_leave_nothing_behind, every_backend, each)
{
    play(each.make(), 2, [](scene& s) -> task {
        s.lock(0).acquire(asio::detached); // and gives back at once, nobody takes the lease
        while (s.locker().stats().released == 0)
            co_await pause(1ms);
        lease held = co_await s.lock(1).acquire(2s);
        held.release(asio::detached);
        lease next = co_await s.lock(0).acquire(2s);
        next.lost(asio::detached);
        BOOST_TEST(next.held());
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
