// batcher: calls that are cancelled while their batch begins, requests that cannot be moved,
// callbacks that throw, and execution contexts that are destroyed first.
#include "contract/doubler.hpp"

#include <boost/asio/detached.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(batch_faults)

// A number that tells when it is moved into a batch.
class parcel {
public:
    explicit parcel(int n) : number(n) { alive().insert(this); }
    parcel(parcel&& other) : number(other.number_if_alive())
    {
        alive().insert(this);
        if (when_moved)
            when_moved(number);
    }
    ~parcel() { alive().erase(this); }

    static inline std::function<void(int)> when_moved;
    int number;

private:
    static std::set<const parcel*>& alive()
    {
        static std::set<const parcel*> all;
        return all;
    }
    int number_if_alive() const { return alive().count(this) != 0 ? number : -1; }
};

// Calls back at each move of a parcel while it lives.
struct moves {
    explicit moves(std::function<void(int)> told) { parcel::when_moved = std::move(told); }
    ~moves() { parcel::when_moved = nullptr; }
};

using counter = batcher<parcel, int>;

// Replies with the numbers.
auto counting(diary& d)
{
    return [&d](lease&, std::span<parcel> all) -> asio::awaitable<numbers> {
        numbers seen;
        for (const parcel& each : all)
            seen.push_back(each.number);
        d.batches.push_back(seen);
        co_return seen;
    };
}

task cancel_at_the_beginning(scene& s)
{
    diary d;
    counter count(s.lock(0), counting(d));
    std::vector<submitted> all(3);
    for (std::size_t i = 0; i < all.size(); ++i)
        count.submit(parcel(static_cast<int>(i)), all[i].token());
    {
        // As another thread does between two requests.
        const moves watched([&](int number) {
            if (number == 0)
                all[1].cancel(asio::cancellation_type::terminal);
        });
        co_await until_all_done(all);
    }
    BOOST_TEST((d.batches == std::vector<numbers>{{0, 1, 2}}));
    BOOST_TEST(all[0].result<int>() == 0);
    BOOST_TEST(all[1].error() == aborted);
    BOOST_TEST(all[2].result<int>() == 2);
    co_await count.close();
    for (const auto& each : all)
        BOOST_TEST(each.completions() == 1);
}

BOOST_AUTO_TEST_CASE(a_request_whose_call_is_cancelled_while_its_batch_begins_is_served)
{
    play(any_backend(), 1, cancel_at_the_beginning);
}

task fail_to_move(scene& s)
{
    diary d;
    std::size_t reported = 0;
    batch_options options;
    options.on_exception = [&reported](const std::exception_ptr&) {
        ++reported;
    };
    counter count(s.lock(0), counting(d), options);
    std::vector<submitted> all(3);
    for (std::size_t i = 0; i < all.size(); ++i)
        count.submit(parcel(static_cast<int>(i)), all[i].token());
    {
        const moves watched([](int number) {
            if (number == 1)
                throw std::runtime_error("cannot be moved");
        });
        co_await until_all_done(all);
    }
    for (auto& each : all)
        BOOST_TEST(each.error() == errc::batch_failed);
    BOOST_TEST(d.batches.empty());

    submitted next;
    count.submit(parcel(7), next.token());
    co_await until_done(next);
    BOOST_TEST(!next.error(), next.error().message());
    BOOST_TEST(next.result<int>() == 7);
    co_await count.close();
    BOOST_TEST(reported == 1u);
    for (const auto& each : all)
        BOOST_TEST(each.completions() == 1);
    const lease given_back = co_await s.lock(1).acquire(5s); // the lease was given back
}

BOOST_AUTO_TEST_CASE(requests_that_cannot_be_moved_fail_and_later_ones_are_served)
{
    play(any_backend(), 2, fail_to_move);
}

struct told_of_failure : std::runtime_error {
    told_of_failure() : std::runtime_error("thrown by on_exception") {}
};

BOOST_AUTO_TEST_CASE(an_exception_of_on_exception_propagates_and_later_requests_are_served)
{
    scene s(any_backend(), 2);
    diary d;
    submitted failed, served;
    call<> closed;
    bool fails = true, told_before = false;
    batch_options options;
    options.on_exception = [&](const std::exception_ptr&) {
        told_before = failed.done();
        throw told_of_failure();
    };
    auto body = [&](lease& held, std::span<int> requests) {
        if (std::exchange(fails, false))
            throw std::runtime_error("thrown by the body");
        return twice(d, held, requests);
    };
    doubler some(s.lock(0), body, options);
    some.submit(1, failed.token());
    BOOST_CHECK_THROW(s.io.run(), told_of_failure);
    BOOST_TEST(told_before);
    BOOST_TEST(failed.error() == errc::batch_failed);

    some.submit(2, served.token());
    run_until(s.io, [&] { return served.done(); });
    BOOST_TEST(!served.error(), served.error().message());
    BOOST_TEST(served.result<int>() == 4);
    some.close(closed.token());
    run_until(s.io, [&] { return closed.done(); });
    BOOST_TEST(!closed.error(), closed.error().message());
    run(s.io, [](scene& all) -> task {
        const lease given_back = co_await all.lock(1).acquire(5s);
        BOOST_TEST(given_back.held());
    }(s));
    s.finish();
    BOOST_TEST(failed.completions() == 1);
}

// What a coroutine that is never resumed keeps alive.
using witness = std::shared_ptr<int>;

doubler never_replies(holdfast::locker& owner, const std::string& name)
{
    return doubler(holdfast::lock(owner, name), [](lease&, std::span<int>) {
        return [](steady::duration length) -> asio::awaitable<numbers> {
            co_await pause(length);
            co_return numbers{};
        }(hang_limit);
    });
}

task submit_and_wait(witness, holdfast::locker& owner, std::string name)
{
    auto own = never_replies(owner, name);
    auto reply = own.submit(1);
    co_await std::move(reply);
}

task close_and_wait(witness, holdfast::locker& owner, std::string name)
{
    auto own = never_replies(owner, name);
    own.submit(1, asio::detached);
    auto end = own.close();
    co_await std::move(end);
}

BOOST_AUTO_TEST_CASE(coroutines_that_wait_are_destroyed_with_their_context)
{
    const auto kept = std::make_shared<int>();
    {
        asio::io_context io;
        const backend store = any_backend();
        holdfast::locker locker(io.get_executor(), store);
        const std::string taken = unique_name(), free = unique_name(), other = unique_name();
        lease held;
        holdfast::lock(locker, taken).acquire([&](error_code, lease l) { held = std::move(l); });
        run_until(io, [&] { return held.held(); });
        asio::co_spawn(io, submit_and_wait(kept, locker, taken), asio::detached);
        asio::co_spawn(io, submit_and_wait(kept, locker, free), asio::detached);
        asio::co_spawn(io, close_and_wait(kept, locker, other), asio::detached);
        run_until(io, [&] {
            const auto stats = locker.stats();
            return stats.held == 2 && stats.waiting == 1;
        });
        BOOST_TEST(kept.use_count() == 4);
    }
    BOOST_TEST(kept.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
