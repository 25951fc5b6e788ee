// Completion handlers of recipes do not disturb each other.
#include "contract/backend_contract.hpp"

#include <holdfast/election.hpp>
#include <holdfast/multi_lock.hpp>
#include <holdfast/read_write_lock.hpp>
#include <holdfast/semaphore.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(recipe_delivery)

constexpr std::size_t threads = 8, callers = 4;

// Handlers that block until all of them have begun.
class meeting {
public:
    explicit meeting(std::size_t expected) : expected_(expected) {}

    void attend()
    {
        std::unique_lock lock(mutex_);
        ++begun_;
        changed_.notify_all();
        complete_ &= changed_.wait_for(lock, limit, [&] { return begun_ >= expected_; });
        ++left_;
        changed_.notify_all();
    }

    // Whether all handlers were there together.
    bool took_place()
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, hang_limit, [&] { return left_ >= expected_; }) && complete_;
    }

private:
    static constexpr auto limit = 5s;

    const std::size_t expected_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t begun_ = 0, left_ = 0;
    bool complete_ = true;
};

struct crowded_pool {
    ~crowded_pool()
    {
        here.close(asio::detached);
        there.close(asio::detached);
        pool.join();
    }

    asio::thread_pool pool{threads};
    backend store = memory();
    holdfast::locker here{pool.get_executor(), store}, there{pool.get_executor(), store};
};

BOOST_AUTO_TEST_CASE(a_blocked_holder_of_a_permit_does_not_delay_others)
{
    meeting all(callers);
    crowded_pool p;
    const holdfast::semaphore permits(p.here, "a", callers);
    for (std::size_t i = 0; i < callers; ++i)
        permits.acquire(10s, [&](error_code, const lease&) { all.attend(); });
    BOOST_TEST(all.took_place());
}

BOOST_AUTO_TEST_CASE(a_blocked_reader_does_not_delay_others)
{
    meeting all(callers);
    crowded_pool p;
    const read_write_lock book(p.here, "a");
    for (std::size_t i = 0; i < callers; ++i)
        book.acquire_shared(10s, [&](error_code, const shared_lease&) { all.attend(); });
    BOOST_TEST(all.took_place());
}

// The reader has left the gate when it is told.
BOOST_AUTO_TEST_CASE(a_blocked_reader_does_not_delay_those_of_other_lockers)
{
    meeting all(2);
    crowded_pool p;
    const read_write_lock one(p.here, "a"), other(p.there, "a");
    for (const read_write_lock* each : {&one, &other})
        each->acquire_shared(10s, [&](error_code, const shared_lease&) { all.attend(); });
    BOOST_TEST(all.took_place());
}

BOOST_AUTO_TEST_CASE(a_blocked_handler_of_a_loss_does_not_delay_others)
{
    meeting all(callers);
    crowded_pool p;
    const read_write_lock book(p.here, "a");
    shared_lease held = book.acquire_shared(10s, asio::use_future).get();
    for (std::size_t i = 1; i < callers; ++i)
        held.lost([&](error_code) { all.attend(); });
    held.release([&](error_code, release_outcome) { all.attend(); });
    BOOST_TEST(all.took_place());
}

// Runs the context until `done()`. Returns how many handlers have thrown.
template <class Done>
int run_with_failures(asio::io_context& io, Done done)
{
    for (int thrown = 0;;) {
        try {
            run_until(io, done);
            return thrown;
        } catch (const std::runtime_error&) {
            ++thrown;
        }
    }
}

BOOST_AUTO_TEST_CASE(a_reader_whose_handler_throws_does_not_strand_others)
{
    scene s(any_backend(), 2);
    const read_write_lock book(s.locker(), s.resource);
    int told = 0;
    for (int i = 0; i < 3; ++i)
        book.acquire_shared(10s, [&](error_code ec, const shared_lease&) {
            BOOST_TEST(!ec, ec.message());
            ++told;
            throw std::runtime_error("handler");
        });
    BOOST_TEST(run_with_failures(s.io, [&] { return told == 3; }) == 3);
    call<lease> writer;
    read_write_lock(s.locker(1), s.resource).acquire(10s, writer.token());
    run_until(s.io, [&] { return writer.done(); });
    BOOST_TEST(!writer.error(), writer.error().message());
    writer.result<lease>() = lease();
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_loss_whose_handler_throws_does_not_strand_others)
{
    scene s(any_backend(), 2);
    const read_write_lock book(s.locker(), s.resource);
    call<shared_lease> reader;
    book.acquire_shared(10s, reader.token());
    run_until(s.io, [&] { return reader.done(); });
    int told = 0;
    auto& held = reader.result<shared_lease>();
    for (int i = 0; i < 3; ++i)
        held.lost([&](error_code) {
            ++told;
            throw std::runtime_error("handler");
        });
    held.release([&](error_code ec, release_outcome outcome) {
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(outcome == release_outcome::released);
        ++told;
        throw std::runtime_error("handler");
    });
    BOOST_TEST(run_with_failures(s.io, [&] { return told == 4; }) == 4);
    call<lease> writer;
    read_write_lock(s.locker(1), s.resource).acquire(10s, writer.token());
    run_until(s.io, [&] { return writer.done(); });
    BOOST_TEST(!writer.error(), writer.error().message());
    writer.result<lease>() = lease();
    s.finish();
}

// An executor that knows how many copies of it there are.
struct counted_executor {
    template <class Property>
    requires(asio::can_require_v<asio::any_io_executor, Property>) counted_executor
        require(const Property& p)
    const { return {asio::require(inner, p), copies}; }
    template <class Property>
    requires(asio::can_prefer_v<asio::any_io_executor, Property>) counted_executor
        prefer(const Property& p)
    const { return {asio::prefer(inner, p), copies}; }
    template <class Property>
    requires(asio::can_query_v<asio::any_io_executor, Property>) decltype(auto)
        query(const Property& p) const noexcept
    {
        return asio::query(inner, p);
    }
    template <class Function>
    void execute(Function&& function) const
    {
        inner.execute(std::forward<Function>(function));
    }
    bool operator==(const counted_executor& other) const noexcept = default;

    asio::any_io_executor inner;
    std::shared_ptr<int> copies;
};

// Starts an operation that does not complete. Its context is destroyed before its signal.
template <class Start>
void outlive_context(Start start)
{
    const auto copies = std::make_shared<int>();
    asio::cancellation_signal signal;
    {
        asio::io_context io;
        const auto store = memory();
        holdfast::locker blocking(io.get_executor(), store);
        holdfast::locker locker(counted_executor{io.get_executor(), copies}, store);
        start(io, blocking, locker, signal.slot());
    }
    BOOST_TEST(copies.use_count() == 1);
    signal.emit(asio::cancellation_type::terminal);
}

constexpr auto ignore = [](auto&&...) {
};

template <class Lease, class Lock>
Lease obtain(asio::io_context& io, const Lock& wanted)
{
    call<Lease> c;
    if constexpr (std::is_same_v<Lease, shared_lease>)
        wanted.acquire_shared(10s, c.token());
    else
        wanted.acquire(10s, c.token());
    run_until(io, [&] { return c.done(); });
    BOOST_TEST(!c.error(), c.error().message());
    return std::move(c.template result<Lease>());
}

// Starts the operation, which has to wait for what `held` has.
template <class Start>
void wait_in_vain(asio::io_context& io, Start start)
{
    start();
    io.restart();
    io.run_for(10ms);
}

BOOST_AUTO_TEST_CASE(a_signal_may_outlive_the_context_of_a_wait)
{
    outlive_context([](auto& io, auto& blocking, auto& locker, auto slot) {
        const lease held = obtain<lease>(io, holdfast::semaphore(blocking, "a", 1));
        const holdfast::semaphore permits(locker, "a", 1);
        wait_in_vain(io, [&] { permits.acquire(10s, asio::bind_cancellation_slot(slot, ignore)); });
    });
    outlive_context([](auto& io, auto& blocking, auto& locker, auto slot) {
        const lease held = obtain<lease>(io, read_write_lock(blocking, "a"));
        const read_write_lock book(locker, "a");
        wait_in_vain(
            io, [&] { book.acquire_shared(10s, asio::bind_cancellation_slot(slot, ignore)); });
    });
    outlive_context([](auto& io, auto& blocking, auto& locker, auto slot) {
        const lease held = obtain<lease>(io, holdfast::lock(blocking, "a"));
        const multi_lock both(locker, std::vector<resource>{"a", "b"});
        wait_in_vain(io, [&] { both.acquire(10s, asio::bind_cancellation_slot(slot, ignore)); });
    });
    outlive_context([](auto& io, auto& blocking, auto& locker, auto slot) {
        const lease held = obtain<lease>(io, holdfast::lock(blocking, "a"));
        const election office(locker, "a");
        const auto body = [](lease&) -> task {
            co_return;
        };
        wait_in_vain(io, [&] { office.run(body, asio::bind_cancellation_slot(slot, ignore)); });
    });
}

BOOST_AUTO_TEST_CASE(a_signal_may_outlive_the_context_of_a_lease)
{
    outlive_context([](auto& io, auto&, auto& locker, auto slot) {
        const read_write_lock book(locker, "a");
        const shared_lease held = obtain<shared_lease>(io, book);
        wait_in_vain(io, [&] { held.lost(asio::bind_cancellation_slot(slot, ignore)); });
    });
    outlive_context([](auto& io, auto&, auto& locker, auto slot) {
        const multi_lock both(locker, std::vector<resource>{"a", "b"});
        const multi_lease held = obtain<multi_lease>(io, both);
        wait_in_vain(io, [&] { held.lost(asio::bind_cancellation_slot(slot, ignore)); });
    });
}

// What a coroutine that is never resumed keeps alive.
using witness = std::shared_ptr<int>;
using waiter = task (*)(witness, holdfast::locker&, std::string);

task wait_for_a_permit(witness, holdfast::locker& owner, std::string name)
{
    const holdfast::semaphore own(owner, name, 1);
    const lease first = co_await own.acquire(hang_limit);
    auto next = own.acquire(hang_limit);
    const lease second = co_await std::move(next);
}

task wait_to_read(witness, holdfast::locker& owner, std::string name)
{
    const read_write_lock own(owner, name);
    const lease writer = co_await own.acquire(hang_limit);
    auto part = own.acquire_shared(hang_limit);
    const shared_lease held = co_await std::move(part);
}

task read_until_lost(witness, holdfast::locker& owner, std::string name)
{
    const read_write_lock own(owner, name);
    const shared_lease held = co_await own.acquire_shared(hang_limit);
    auto loss = held.lost();
    co_await std::move(loss);
}

task wait_for_all(witness, holdfast::locker& owner, std::string name)
{
    const multi_lock own(owner, std::vector<resource>{resource(name), resource(name + ":2")});
    const multi_lease first = co_await own.acquire(hang_limit);
    auto next = own.acquire(hang_limit);
    const multi_lease second = co_await std::move(next);
}

task hold_all_until_lost(witness, holdfast::locker& owner, std::string name)
{
    const multi_lock own(owner, std::vector<resource>{resource(name), resource(name + ":2")});
    const multi_lease held = co_await own.acquire(hang_limit);
    auto loss = held.lost();
    co_await std::move(loss);
}

task wait_to_lead(witness, holdfast::locker& owner, std::string name)
{
    const holdfast::lock same(owner, name);
    const lease leader = co_await same.acquire(hang_limit);
    const election own(owner, name);
    auto led = own.run([](lease&) -> task { co_return; });
    co_await std::move(led);
}

BOOST_AUTO_TEST_CASE(coroutines_that_own_their_recipe_are_destroyed_with_their_context)
{
    for (const waiter each : {&wait_for_a_permit, &wait_to_read, &read_until_lost, &wait_for_all,
             &hold_all_until_lost, &wait_to_lead}) {
        const auto kept = std::make_shared<int>();
        {
            asio::io_context io;
            holdfast::locker locker(io.get_executor(), any_backend());
            asio::co_spawn(io, each(kept, locker, unique_name()), asio::detached);
            run_until(io, [&] { return locker.stats().held >= 1; });
            io.run_for(100ms); // until it waits
            BOOST_TEST(locker.stats().held >= 1u);
            BOOST_TEST(kept.use_count() == 2);
        }
        BOOST_TEST(kept.use_count() == 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
