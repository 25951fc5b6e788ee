// Readers and writers.
#include "contract/backend_contract.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(read_write_locks)

read_write_lock of(scene& s, std::size_t which, const lock_options& options = brief())
{
    return read_write_lock(s.locker(which), s.resource, options, 2);
}

task wait_for(const call<lease>& c)
{
    while (!c.done())
        co_await pause(1ms);
}

task wait_for(const call<shared_lease>& c)
{
    while (!c.done())
        co_await pause(1ms);
}

BOOST_DATA_TEST_CASE(readers_are_together_and_a_writer_is_alone, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        const auto here = of(s, 0), there = of(s, 1);
        shared_lease one = co_await here.acquire_shared();
        shared_lease two = co_await here.acquire_shared();
        shared_lease three = co_await there.acquire_shared();
        BOOST_TEST((one.held() && two.held() && three.held()));
        BOOST_TEST(one.resource() == two.resource());
        BOOST_TEST(one.resource() != three.resource());

        auto [ec, none] = co_await there.acquire(1s, no_throw);
        BOOST_TEST(ec == errc::contended);
        const lease tried = co_await here.try_acquire();
        BOOST_TEST(!tried);

        co_await one.release();
        co_await two.release();
        const release_outcome outcome = co_await three.release();
        BOOST_TEST(outcome == release_outcome::released);
        BOOST_TEST(!three);

        lease writer = co_await here.acquire(5s);
        BOOST_TEST(writer.held());
        auto [late, reader] = co_await there.acquire_shared(1s, no_throw);
        BOOST_TEST(late == errc::contended);
        const shared_lease other = co_await here.try_acquire_shared();
        BOOST_TEST(!other);
        const lease second = co_await there.try_acquire();
        BOOST_TEST(!second);
        co_await writer.release();
        const shared_lease next = co_await there.acquire_shared(5s);
        BOOST_TEST(next.held());
    });
}

// The readers of the same process do not overtake a writer that waits, once the time for which they
// may join has passed.
task writer_among_readers(scene& s)
{
    lock_options options = brief();
    options.handoff_time = 20ms;
    const auto here = of(s, 0, options), there = of(s, 1, options);
    shared_lease first = co_await here.acquire_shared();
    call<lease> writer;
    there.acquire(30s, writer.token());
    co_await pause(50ms);
    while (s.locker(1).stats().held == 0) // until the writer has the gate
        co_await pause(1ms);
    call<shared_lease> reader;
    here.acquire_shared(30s, reader.token());
    co_await pause(50ms);
    BOOST_TEST(!writer.done());
    BOOST_TEST(!reader.done());
    co_await first.release();
    co_await wait_for(writer);
    BOOST_TEST(!writer.error());
    BOOST_TEST(!reader.done());
    co_await writer.result<lease>().release();
    co_await wait_for(reader);
    BOOST_TEST(!reader.error());
    BOOST_TEST(reader.result<shared_lease>().held());
}

BOOST_DATA_TEST_CASE(a_writer_does_not_starve, every_backend(), each)
{
    play(each.make(), 2, writer_among_readers);
}

BOOST_DATA_TEST_CASE(tokens_order_readers_and_writers, every_backend(), each)
{
    const bool has_tokens = each.has_tokens;
    play(each.make(), 2, [has_tokens](scene& s) -> task {
        const auto here = of(s, 0), there = of(s, 1);
        std::vector<std::optional<std::uint64_t>> tokens;
        for (int i = 0; i < 2; ++i) {
            shared_lease reader = co_await here.acquire_shared(5s);
            tokens.push_back(reader.fence());
            co_await reader.release();
            lease writer = co_await there.acquire(5s);
            tokens.push_back(writer.fence());
            co_await writer.release();
        }
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            BOOST_TEST(tokens[i].has_value() == has_tokens);
            if (i > 0 && has_tokens)
                BOOST_TEST(*tokens[i - 1] < *tokens[i]);
        }
    });
}

task cancel_a_wait_for_the_loss(scene& s)
{
    const auto here = of(s, 0);
    shared_lease held = co_await here.acquire_shared();
    call<> cancelled;
    held.lost(cancelled.token());
    cancelled.cancel();
    while (!cancelled.done())
        co_await pause(1ms);
    BOOST_TEST(cancelled.error() == aborted);
    BOOST_TEST(held.held());
    co_await held.release();
}

task lose_together(scene& s)
{
    co_await cancel_a_wait_for_the_loss(s); // that of a lease that is renewed
    lock_options options = unrenewed(3s);
    options.guard = 500ms; // a busy machine has more time for the readers to come in
    const auto here = of(s, 0, options);
    shared_lease one = co_await here.acquire_shared();
    shared_lease two = co_await here.acquire_shared();
    BOOST_TEST(one.resource() == two.resource());
    call<> first, second;
    one.lost(first.token());
    two.lost(second.token());
    while (!first.done() || !second.done())
        co_await pause(1ms);
    BOOST_TEST(first.error() == errc::lease_lost);
    BOOST_TEST(second.error() == errc::lease_lost);

    // The next reader does not join them.
    shared_lease next = co_await of(s, 1).acquire_shared(10s);
    BOOST_TEST(next.held());
    auto [ec, outcome] = co_await two.release(no_throw);
    BOOST_TEST(!ec);
    BOOST_TEST(outcome == release_outcome::expired);
    auto [again, none] = co_await two.release(no_throw);
    BOOST_TEST(again == errc::not_held);
    const error_code over = std::get<0>(co_await two.lost(no_throw));
    BOOST_TEST(over == errc::not_held);
}

BOOST_DATA_TEST_CASE(all_readers_are_told_that_their_lease_is_lost, every_backend(), each)
{
    play(each.make(), 2, lose_together);
}

task cancel_waits(scene& s)
{
    const auto here = of(s, 0), there = of(s, 1);
    lease writer = co_await here.acquire();
    call<shared_lease> reader;
    call<lease> other;
    there.acquire_shared(forever, reader.token());
    there.acquire(forever, other.token());
    co_await pause(20ms);
    reader.cancel();
    other.cancel();
    co_await wait_for(reader);
    co_await wait_for(other);
    BOOST_TEST(reader.error() == aborted);
    BOOST_TEST(other.error() == aborted);
    co_await writer.release();
    const shared_lease next = co_await here.acquire_shared(5s);
    BOOST_TEST(next.held());
}

BOOST_DATA_TEST_CASE(a_cancelled_wait_leaves_nothing_behind, every_backend(), each)
{
    play(each.make(), 2, cancel_waits);
}

struct inside {
    int readers = 0, writers = 0, most_readers = 0, done = 0;
    bool clash = false;
};

task crowd(scene& s)
{
    constexpr int callers = 30;
    inside seen;
    const read_write_lock both[] = {of(s, 0), of(s, 1)};
    auto read = [&seen](shared_lease&) -> task {
        seen.most_readers = std::max(seen.most_readers, ++seen.readers);
        seen.clash |= seen.writers != 0;
        co_await pause(2ms);
        --seen.readers;
        ++seen.done;
    };
    auto write = [&seen](lease&) -> task {
        ++seen.writers;
        seen.clash |= seen.writers != 1 || seen.readers != 0;
        co_await pause(2ms);
        --seen.writers;
        ++seen.done;
    };
    std::vector<call<>> all(callers);
    for (std::size_t i = 0; i < callers; ++i) {
        if (i % 3 == 0)
            both[i % 2].hold(write, all[i].token());
        else
            both[i % 2].hold_shared(read, all[i].token());
    }
    for (const call<>& each : all) {
        while (!each.done())
            co_await pause(1ms);
        BOOST_TEST(!each.error(), each.error().message());
    }
    BOOST_TEST(seen.done == callers);
    BOOST_TEST(!seen.clash);
    BOOST_TEST(seen.most_readers > 1);
}

BOOST_DATA_TEST_CASE(a_crowd_reads_and_writes, every_backend(), each)
{
    play(each.make(), 2, crowd);
}

BOOST_AUTO_TEST_CASE(empty_shared_leases_hold_nothing)
{
    play(any_backend(), 1, [](scene&) -> task {
        shared_lease none;
        BOOST_TEST(!none);
        BOOST_TEST(!none.held());
        BOOST_TEST(none.resource().empty());
        auto [ec, outcome] = co_await none.release(no_throw);
        BOOST_TEST(ec == errc::not_held);
        const error_code over = std::get<0>(co_await none.lost(no_throw));
        BOOST_TEST(over == errc::not_held);
    });
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused)
{
    play(any_backend(), 1, [](scene& s) -> task {
        BOOST_CHECK_THROW(read_write_lock(s.locker(), "a", {}, 0), std::invalid_argument);
        BOOST_CHECK_THROW(read_write_lock(s.locker(), "a", {}, read_write_lock::most_slots + 1),
            std::invalid_argument);
        BOOST_CHECK_THROW(
            read_write_lock(s.locker(), std::string(read_write_lock::max_name_size + 1, 'a')),
            std::invalid_argument);
        lock_options resting;
        resting.min_hold = 1s;
        BOOST_CHECK_THROW(read_write_lock(s.locker(), "a", resting), std::invalid_argument);
        lock_options sticky;
        sticky.linger = 1s;
        BOOST_CHECK_THROW(read_write_lock(s.locker(), "a", sticky), std::invalid_argument);
        BOOST_CHECK_THROW(lock(s.locker(), "a:holdfast:gate"), std::invalid_argument);
        co_return;
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
