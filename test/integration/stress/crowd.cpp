#include "integration/stress/crowd.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace holdfast::test {

namespace {

// No lease ends by time: a lease is lost only when its locker is closed.
lock_options long_lived()
{
    lock_options options;
    options.ttl = 60s;
    options.guard = 20s;
    options.wait = 10s;
    return options;
}

struct body_failed : std::runtime_error {
    body_failed() : std::runtime_error("the body failed") {}
};

task work(lease& held, crowd_world& world, std::size_t resource, std::size_t steps, bool fails)
{
    const visit inside(world, resource);
    if (!held)
        world.complain("the lease of a body is not alive");
    if (steps == 3)
        co_await pause(1ms);
    for (std::size_t i = 0; i < steps; ++i)
        co_await asio::post(asio::use_awaitable);
    if (fails)
        throw body_failed();
}

template <class Body>
task hold_beside_a_timer(holdfast::lock lock, Body body, std::chrono::microseconds limit)
{
    using namespace asio::experimental::awaitable_operators;
    asio::steady_timer timer(co_await asio::this_coro::executor, limit);
    auto held = lock.hold(body);
    auto time = timer.async_wait(asio::use_awaitable);
    co_await (std::move(held) || std::move(time));
}

constexpr std::array cancellations{asio::cancellation_type::terminal,
    asio::cancellation_type::partial, asio::cancellation_type::total, asio::cancellation_type::all};

} // namespace

std::uint64_t operations_wanted(std::uint64_t usual)
{
    const char* const wanted = std::getenv("HOLDFAST_STRESS_OPERATIONS");
    return wanted != nullptr ? std::stoull(wanted) : usual;
}

crowd_world::crowd_world(asio::io_context& io, backend store, const crowd_settings& wanted)
    : settings(wanted),
      io_(io),
      store_(std::move(store)),
      inside_(wanted.resources)
{
    while (lockers_.size() < settings.lockers)
        lockers_.push_back(make_locker());
}

std::shared_ptr<holdfast::locker> crowd_world::make_locker() const
{
    return std::make_shared<holdfast::locker>(io_.get_executor(), store_);
}

bool crowd_world::begin_operation() noexcept
{
    return begun_.fetch_add(1) < settings.operations;
}

std::shared_ptr<holdfast::locker> crowd_world::locker(std::size_t which)
{
    const std::lock_guard lock(mutex_);
    return lockers_.at(which);
}

std::shared_ptr<holdfast::locker> crowd_world::replace_locker(std::size_t which)
{
    auto made = make_locker();
    const std::lock_guard lock(mutex_);
    return std::exchange(lockers_.at(which), std::move(made));
}

void crowd_world::retire()
{
    if (retired_.fetch_add(1) + 1 < settings.actors)
        return;
    const std::lock_guard lock(mutex_);
    for (const auto& each : lockers_)
        each->close(asio::detached);
}

void crowd_world::enter(std::size_t resource)
{
    ++granted_;
    if (inside_[resource].fetch_add(1) != 0 && settings.exclusive)
        complain("two holders of one resource");
}

void crowd_world::leave(std::size_t resource) noexcept
{
    inside_[resource].fetch_sub(1);
}

void crowd_world::complain(const std::string& what)
{
    const std::lock_guard lock(mutex_);
    if (complaints_.size() < 10)
        complaints_.push_back(what);
}

std::vector<std::string> crowd_world::complaints()
{
    const std::lock_guard lock(mutex_);
    return complaints_;
}

actor::actor(asio::io_context& io, crowd_world& world, std::uint32_t seed)
    : world_(world),
      strand_(asio::make_strand(io)),
      random_(seed)
{}

void actor::start()
{
    asio::post(strand_, [this] { step(); });
}

void actor::check_end()
{
    check(started_ == completed_ && open_ == 0, "an operation did not complete");
    check(watches_ == watches_ended_, "a wait for the loss of a lease did not complete");
}

void actor::step()
{
    if (!world_.begin_operation()) {
        let_go();
        return world_.retire();
    }
    if (lease_)
        act_with_lease();
    else
        act_without_lease();
}

void actor::act_without_lease()
{
    let_go(); // of a lost lease
    switch (random(8)) {
    case 0:
    case 1:
        return try_acquire();
    case 2:
    case 3:
        return hold();
    case 4:
        if (random(100) == 0)
            return replace_a_locker();
        [[fallthrough]];
    default:
        return acquire();
    }
}

void actor::act_with_lease()
{
    switch (random(8)) {
    case 0:
        return extend();
    case 1:
        return watch(true);
    case 2:
        watch_in_background();
        return release();
    case 3:
        let_go();
        return acquire();
    case 4:
        static_cast<void>(lease_.held());
        static_cast<void>(world_.locker(random(world_.settings.lockers))->stats());
        return extend();
    default:
        return release();
    }
}

holdfast::lock actor::any_lock(std::size_t resource)
{
    const auto owner = world_.locker(random(world_.settings.lockers));
    return holdfast::lock(*owner, "stress:" + std::to_string(resource), long_lived());
}

// Performs one operation. Its handler must run once, on the strand. Some operations are cancelled
// after a few turns. Then the next operation begins.
template <class Start, class Then>
void actor::perform(Start start, Then then, bool must_cancel)
{
    auto done = [this, then, number = ++started_](auto error, auto&&... results) {
        check(strand_.running_in_this_thread(), "a handler ran outside its strand");
        check(!initiating_, "a handler ran inside the call that began the operation");
        check(number == started_ && number == completed_ + 1, "a handler ran twice");
        completed_ = number;
        judge(error);
        then(std::forward<decltype(results)>(results)...);
        ended_one();
    };
    open_ = 2;
    initiating_ = true;
    start(asio::bind_cancellation_slot(
        signal_.slot(), asio::bind_executor(strand_, std::move(done))));
    initiating_ = false;
    take_turns(random(12), must_cancel || random(2) == 0);
}

void actor::take_turns(std::size_t left, bool cancels)
{
    if (left > 0)
        return asio::post(strand_, [this, left, cancels] { take_turns(left - 1, cancels); });
    if (cancels)
        signal_.emit(cancellations[random(cancellations.size())]);
    ended_one();
}

void actor::ended_one()
{
    if (--open_ == 0)
        asio::post(strand_, [this] { step(); });
}

void actor::acquire()
{
    const std::size_t resource = random(world_.settings.resources);
    const auto wait = std::chrono::milliseconds(random(6));
    const auto lock = any_lock(resource);
    perform([&](auto token) { lock.acquire(wait, std::move(token)); },
        [this, resource](lease granted) { take(std::move(granted), resource); });
}

void actor::try_acquire()
{
    const std::size_t resource = random(world_.settings.resources);
    const auto lock = any_lock(resource);
    perform([&](auto token) { lock.try_acquire(std::move(token)); },
        [this, resource](lease granted) { take(std::move(granted), resource); });
}

void actor::hold()
{
    const std::size_t resource = random(world_.settings.resources);
    const auto lock = any_lock(resource);
    auto body = [this, resource, steps = random(4), fails = random(8) == 0](lease& held) {
        return work(held, world_, resource, steps, fails);
    };
    if (random(2) == 0)
        return perform([&](auto token) { lock.hold(body, std::move(token)); }, [] {});
    const std::chrono::microseconds limit(random(300));
    perform(
        [&](auto token) {
            asio::co_spawn(strand_, hold_beside_a_timer(lock, body, limit), std::move(token));
        },
        [] {});
}

void actor::extend()
{
    perform([&](auto token) { lease_.extend(std::move(token)); }, [] {});
}

void actor::release()
{
    visit_.reset();
    lease going = std::move(lease_);
    perform([&](auto token) { going.release(std::move(token)); }, [](release_outcome) {});
}

void actor::watch(bool cancelled)
{
    perform([&](auto token) { lease_.lost(std::move(token)); }, [] {}, cancelled);
}

void actor::watch_in_background()
{
    ++watches_;
    lease_.lost(asio::bind_executor(strand_, [this](error_code ec) {
        ++watches_ended_;
        judge(ec);
        check(bool(ec), "a wait for the loss of a lease ended without an error");
    }));
}

void actor::replace_a_locker()
{
    const auto old = world_.replace_locker(random(world_.settings.lockers));
    perform([&](auto token) { old->close(std::move(token)); }, [] {});
}

void actor::take(lease granted, std::size_t resource)
{
    if (!granted)
        return;
    lease_ = std::move(granted);
    visit_.emplace(world_, resource);
}

void actor::let_go() noexcept
{
    visit_.reset();
    lease_ = lease();
}

void actor::judge(error_code ec)
{
    const bool usual = !ec || ec == errc::contended || ec == errc::closed || ec == errc::not_held ||
                       ec == errc::lease_lost || ec == aborted;
    if (ec == aborted)
        world_.count_cancelled();
    if (!usual && !world_.settings.may_fail.contains(ec))
        world_.complain("failed with " + ec.message());
}

void actor::judge(const std::exception_ptr& error)
{
    if (!error)
        return;
    try {
        std::rethrow_exception(error);
    } catch (const boost::system::system_error& e) {
        judge(e.code());
    } catch (const asio::multiple_exceptions& e) {
        judge(e.first_exception());
    } catch (const body_failed&) {
    }
}

void actor::check(bool kept, const char* promise)
{
    if (!kept)
        world_.complain(promise);
}

void run_crowd(const backend& store, const crowd_settings& settings)
{
    asio::io_context io;
    crowd_world world(io, store, settings);
    std::deque<actor> actors;
    while (actors.size() < settings.actors)
        actors.emplace_back(io, world, static_cast<std::uint32_t>(actors.size() + 1));
    for (actor& each : actors)
        each.start();

    std::vector<std::thread> threads;
    while (threads.size() < crowd_threads)
        threads.emplace_back([&io] { io.run(); });
    for (std::thread& each : threads)
        each.join();
    for (actor& each : actors)
        each.check_end();
    for (const std::string& each : world.complaints())
        BOOST_ERROR(each);
    BOOST_TEST_MESSAGE(settings.operations << " operations, " << world.granted() << " grants, "
                                           << world.cancelled() << " cancelled");
    BOOST_TEST(world.granted() > settings.operations / 10);
    BOOST_TEST(world.cancelled() > settings.operations / 20);
}

} // namespace holdfast::test
