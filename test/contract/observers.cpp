// Events and spans of a locker, as its user gets them.
#include "contract/backend_contract.hpp"
#include "support/recording_tracer.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(observers)

using kind = event::type;

// Keeps the events that are about leases and waits; nodes have their own.
struct event_log {
    std::vector<event> all;

    locker_options options(event_level lowest = event_level::debug)
    {
        return {.on_event =
                    [this](const event& e) {
                        if (e.node.empty())
                            all.push_back(e);
                    },
            .event_level = lowest};
    }
    bool has(kind wanted) const
    {
        return std::any_of(
            all.begin(), all.end(), [wanted](const event& e) { return e.kind == wanted; });
    }
    std::string names() const
    {
        std::string text;
        for (const event& e : all)
            text += std::string(name_of(e.kind)) + " ";
        return text;
    }
};

BOOST_DATA_TEST_CASE(events_of_a_lease, every_backend(), each)
{
    event_log log;
    scene s(each.make(), 1, log.options());
    const auto before = std::chrono::system_clock::now();
    std::optional<std::uint64_t> fence;
    run(s.io, [](scene& world, std::optional<std::uint64_t>& token) -> task {
        lease held = co_await world.lock(0, brief()).acquire();
        token = held.fence();
        co_await held.release();
    }(s, fence));
    s.finish();
    BOOST_TEST(log.names() == "acquired released closing ");
    BOOST_REQUIRE(log.all.size() == 3u);
    BOOST_TEST(log.all[0].resource == s.resource);
    BOOST_TEST((log.all[0].fence == fence));
    BOOST_TEST(log.all[0].fence.has_value() == each.has_tokens);
    BOOST_TEST(log.all[1].resource == s.resource);
    BOOST_TEST((log.all[0].time >= before && log.all[0].time <= log.all[1].time));
    BOOST_TEST((log.all[2].time <= std::chrono::system_clock::now()));
}

BOOST_AUTO_TEST_CASE(an_acquire_that_fails)
{
    event_log log;
    scene s(any_backend(), 1, log.options(event_level::info));
    run(s.io, [](scene& world) -> task {
        const lease held = co_await world.lock(0, brief()).acquire();
        auto [refused, none] = co_await world.lock(0, brief()).acquire(1ms, no_throw);
        BOOST_TEST((refused == errc::contended));
        auto [quiet, empty] = co_await world.lock(0, brief()).try_acquire(no_throw);
        BOOST_TEST(!quiet);
    }(s));
    s.finish();
    BOOST_TEST(log.names() == "wait_failed closing "); // the refused try is none
    BOOST_TEST((log.all[0].error == errc::contended));
    BOOST_TEST(log.all[0].resource == s.resource);
}

BOOST_AUTO_TEST_CASE(a_lost_lease_is_an_error)
{
    event_log log;
    scene s(any_backend(), 1, log.options(event_level::error));
    lock_options short_one = unrenewed(200ms);
    call<lease> wait;
    s.lock(0, short_one).acquire(wait.token());
    run_until(s.io, [&] { return wait.done() && log.has(kind::lost); });
    BOOST_TEST(log.names() == "lost ");
    wait.result<lease>() = lease();
    s.finish();
    BOOST_TEST(log.names() == "lost ");
}

// Neither the call that acquires nor the one that releases makes it.
BOOST_AUTO_TEST_CASE(no_event_inside_a_call)
{
    event_log log;
    scene s(any_backend(), 1, log.options());
    call<lease> wait;
    s.lock(0).acquire(wait.token());
    BOOST_TEST(log.all.empty());
    run_until(s.io, [&] { return wait.done() && !log.all.empty(); });
    wait.result<lease>() = lease(); // drops it
    BOOST_TEST(log.names() == "acquired ");
    s.locker().close(asio::detached);
    BOOST_TEST(log.names() == "acquired ");
    s.finish();
    BOOST_TEST(log.names() == "acquired released closing ");
}

// No lock is held: the callback may use the locker, and even destroy it.
BOOST_AUTO_TEST_CASE(the_callback_uses_the_locker)
{
    asio::io_context io;
    std::unique_ptr<holdfast::locker> owner;
    std::uint64_t seen = 0;
    locker_options options;
    options.event_level = event_level::debug;
    options.on_event = [&](const event& e) {
        if (e.kind == kind::acquired) {
            seen = owner->stats().acquired;
            owner.reset();
        }
    };
    owner = std::make_unique<holdfast::locker>(io.get_executor(), any_backend(), options);
    holdfast::lock(*owner, unique_name()).acquire(asio::detached);
    io.run();
    BOOST_TEST(seen == 1u);
    BOOST_TEST(owner == nullptr);
}

BOOST_AUTO_TEST_CASE(an_exception_propagates_and_later_events_come)
{
    asio::io_context io;
    event_log log;
    locker_options options = log.options();
    options.on_event = [&, keep = options.on_event](const event& e) {
        keep(e);
        if (e.kind == kind::acquired)
            throw std::runtime_error("from the callback");
    };
    holdfast::locker locker(io.get_executor(), any_backend(), options);
    call<lease> wait;
    holdfast::lock(locker, unique_name()).acquire(wait.token());
    BOOST_CHECK_THROW(io.run(), std::runtime_error);
    run_until(io, [&] { return wait.done(); });
    wait.result<lease>() = lease();
    locker.close(asio::detached);
    io.restart();
    io.run();
    BOOST_TEST(log.names() == "acquired released closing ");
}

// A callback that blocks keeps its own thread, and the other thread serves the locker.
BOOST_AUTO_TEST_CASE(a_callback_that_blocks_delays_no_operation)
{
    asio::thread_pool pool(2);
    std::promise<void> go_on;
    std::atomic<int> calls = 0;
    locker_options options;
    options.event_level = event_level::debug;
    options.on_event = [&, first = go_on.get_future().share()](const event&) {
        if (calls++ == 0)
            first.wait();
    };
    holdfast::locker locker(pool.get_executor(), any_backend(), options);
    for (int i = 0; i < 100; ++i) {
        auto got = holdfast::lock(locker, unique_name()).acquire(asio::use_future);
        BOOST_REQUIRE((got.wait_for(hang_limit) == std::future_status::ready));
        lease held = got.get();
        BOOST_TEST(held.held());
    }
    BOOST_TEST(calls <= 1);
    go_on.set_value();
    locker.close(asio::detached);
    pool.join();
    BOOST_TEST(calls == 201);
}

// The context is destroyed with events that were not delivered: the callback is not called, and is
// destroyed.
BOOST_AUTO_TEST_CASE(a_context_that_is_destroyed_first)
{
    const auto used = std::make_shared<int>(0);
    std::weak_ptr<int> alive = used;
    std::optional<asio::io_context> io(std::in_place);
    locker_options options;
    options.event_level = event_level::debug;
    options.on_event = [used](const event&) {
        ++*used;
    };
    std::optional<holdfast::locker> locker(
        std::in_place, io->get_executor(), any_backend(), std::exchange(options, {}));
    call<lease> wait;
    holdfast::lock(*locker, unique_name()).acquire(wait.token());
    locker->close(asio::detached);
    locker.reset();
    io.reset();
    BOOST_TEST(*used == 0);
    BOOST_TEST(alive.use_count() == 1);
}

std::vector<recording_tracer::record> with_name(const recording_tracer& t, const std::string& name)
{
    std::vector<recording_tracer::record> found;
    for (const auto& each : t.over()) {
        if (each.name == name)
            found.push_back(each);
    }
    return found;
}

locker_options traced_by(const std::shared_ptr<recording_tracer>& t)
{
    locker_options options;
    options.tracer = t;
    return options;
}

// Both spans have the caller's span as their parent: it is found on the caller's thread, inside the
// call.
BOOST_DATA_TEST_CASE(spans_of_an_acquire_and_its_hold, every_backend(), each)
{
    const auto tracer = std::make_shared<recording_tracer>();
    scene s(each.make(), 1, traced_by(tracer));
    const auto before = steady::now();
    run(s.io, [](scene& world) -> task {
        recording_tracer::current = "request";
        auto acquire = world.lock(0, brief()).acquire();
        lease held = co_await std::move(acquire);
        recording_tracer::current = "";
        co_await pause(5ms);
        co_await held.release();
    }(s));
    recording_tracer::current = "";
    s.finish();
    const auto acquires = with_name(*tracer, "acquire"), holds = with_name(*tracer, "hold");
    BOOST_REQUIRE((acquires.size() == 1 && holds.size() == 1));
    const auto& acquire = acquires[0];
    const auto& hold = holds[0];
    BOOST_TEST(acquire.resource == s.resource);
    BOOST_TEST(acquire.parent == "request");
    BOOST_TEST(hold.parent == "request");
    BOOST_TEST(!acquire.outcome);
    BOOST_TEST(!hold.outcome);
    BOOST_TEST(hold.fence.has_value() == each.has_tokens);
    BOOST_REQUIRE(!acquire.events.empty());
    BOOST_TEST(acquire.events.front() == "attempt");
    BOOST_TEST(acquire.events.back() == "decided");
    BOOST_TEST((acquire.times.front().steady >= before));
    BOOST_TEST((acquire.ended.steady >= acquire.times.back().steady));
    BOOST_TEST((hold.began.steady == acquire.ended.steady));
    BOOST_TEST((hold.ended.steady - hold.began.steady >= 5ms));
    BOOST_TEST(tracer->open() == 0u);
}

BOOST_AUTO_TEST_CASE(spans_of_acquires_that_fail)
{
    const auto tracer = std::make_shared<recording_tracer>();
    scene s(any_backend(), 1, traced_by(tracer));
    call<lease> holds, cancelled, refused, tried;
    s.lock(0).acquire(holds.token());
    s.lock(0).acquire(cancelled.token());
    s.lock(0).acquire(20ms, refused.token());
    s.lock(0).try_acquire(tried.token());
    cancelled.cancel();
    run_until(
        s.io, [&] { return holds.done() && cancelled.done() && refused.done() && tried.done(); });
    holds.result<lease>() = lease();
    s.finish();
    std::string outcomes;
    for (const auto& each : with_name(*tracer, "acquire"))
        outcomes += (each.outcome ? each.outcome.message() : std::string("ok")) + "; ";
    const std::string busy = make_error_code(errc::contended).message() + "; ";
    const std::string aborted = error_code(asio::error::operation_aborted).message() + "; ";
    const auto count = [&outcomes](const std::string& one) {
        std::size_t n = 0;
        for (auto at = outcomes.find(one); at != outcomes.npos; at = outcomes.find(one, at + 1))
            ++n;
        return n;
    };
    BOOST_TEST(count("ok; ") == 1u);
    BOOST_TEST(count(aborted) == 1u);
    BOOST_TEST(count(busy) == 2u);
    BOOST_TEST(with_name(*tracer, "hold").size() == 1u);
    BOOST_TEST(tracer->open() == 0u);
}

// hold() runs a coroutine of its own, on a strand, but its span begins in the call.
BOOST_AUTO_TEST_CASE(the_span_of_a_hold_begins_where_it_is_called)
{
    asio::thread_pool pool(1);
    const auto tracer = std::make_shared<recording_tracer>();
    holdfast::locker locker(pool.get_executor(), any_backend(), traced_by(tracer));
    recording_tracer::current = "caller";
    auto done = holdfast::lock(locker, unique_name())
                    .hold([](lease&) -> asio::awaitable<void> { co_return; }, asio::use_future);
    recording_tracer::current = "";
    done.get();
    locker.close(asio::detached);
    pool.join();
    const auto acquires = with_name(*tracer, "acquire");
    BOOST_REQUIRE(acquires.size() == 1u);
    BOOST_TEST(acquires[0].parent == "caller");
    BOOST_TEST(tracer->open() == 0u);
}

BOOST_AUTO_TEST_CASE(spans_when_the_context_is_destroyed)
{
    const auto tracer = std::make_shared<recording_tracer>();
    std::optional<asio::io_context> io(std::in_place);
    holdfast::locker locker(io->get_executor(), any_backend(), traced_by(tracer));
    call<lease> wait;
    holdfast::lock(locker, unique_name()).acquire(wait.token());
    BOOST_TEST(tracer->open() == 1u);
    {
        const holdfast::locker last = std::move(locker);
        io.reset();
    }
    BOOST_TEST(tracer->open() == 0u);
    BOOST_TEST(tracer->over().empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
