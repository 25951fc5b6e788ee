// Rows 36 and 37: every operation is cancelled at each point where it can wait: after k handlers of
// the io_context, for k = 0, 1, 2, … until the operation completes first. Everything is also
// destroyed at each of these points. In builds with the address sanitizer, leaks are found.
#include "support/call.hpp"
#include "support/cluster.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_cancellation)

constexpr auto ttl = 3s;
constexpr auto brief_ttl = 800ms; // for tests that wait for the end of a lease
constexpr auto queue_ttl = 3s;    // after the last sign of life of a waiter

lock_options brief(holdfast::renewal renewing)
{
    lock_options options;
    options.ttl = renewing == renewal::manual ? brief_ttl : ttl;
    options.wait = 5s;
    options.renewal = renewing;
    return options;
}

// One operation with everything that it needs, including the io_context.
class rig {
public:
    explicit rig(const backend& store) : resource(unique_name())
    {
        locker.emplace(io->get_executor(), store);
    }

    holdfast::lock lock(holdfast::renewal renewing = renewal::automatic)
    {
        return holdfast::lock(*locker, resource, brief(renewing));
    }

    // The completion token of the operation.
    auto token()
    {
        auto note = [seen = seen_](auto error, auto&&... results) {
            ++seen->completions;
            seen->error = code_of(error);
            (seen->keep(std::forward<decltype(results)>(results)), ...);
        };
        return asio::bind_cancellation_slot(signal.slot(), std::move(note));
    }

    int completions() const { return seen_->completions; }
    error_code error() const { return seen_->error; }
    bool was_given_a_lease() const { return bool(seen_->granted); }
    void give_back_what_was_granted() { seen_->granted = lease(); }

    // Runs up to this many handlers. Returns whether the operation has completed.
    bool done_after(int handlers)
    {
        for (int i = 0; i < handlers && completions() == 0; ++i)
            BOOST_REQUIRE(io->run_one_for(10s) == 1u);
        return completions() != 0;
    }

    void take_the_lease(holdfast::renewal renewing)
    {
        run(*io, [](holdfast::lock what, lease& to) -> task {
            to = co_await what.acquire();
        }(lock(renewing), held));
    }

    const std::string resource;
    std::optional<asio::io_context> io{std::in_place};
    std::optional<holdfast::locker> locker;
    lease held;
    asio::cancellation_signal signal;

private:
    struct record {
        void keep(lease given) { granted = std::move(given); }
        void keep(release_outcome) {}
        int completions = 0;
        error_code error;
        lease granted;
    };
    std::shared_ptr<record> seen_ = std::make_shared<record>();
};

void nothing(rig&, cluster&) {}

void connect(rig& r, cluster&)
{
    r.take_the_lease(renewal::automatic);
    run(*r.io, [](lease& held) -> task {
        co_await held.release();
    }(r.held));
}

void let_another_hold(rig& r, cluster& c)
{
    connect(r, c);
    c.command({"SET", r.resource, "another", "PX", "40"});
}

void hold_lease(rig& r, cluster&)
{
    r.take_the_lease(renewal::automatic);
}

void hold_unrenewed(rig& r, cluster&)
{
    r.take_the_lease(renewal::manual);
}

task some_work(lease&)
{
    co_await pause(5ms);
    co_await pause(5ms);
}

// An operation, and its result if it is not cancelled.
struct subject {
    const char* name;
    void (*prepare)(rig&, cluster&);
    void (*start)(rig&);
    errc result = {};
    friend std::ostream& operator<<(std::ostream& out, const subject& s) { return out << s.name; }
};

const std::vector<subject> operations{
    {"acquire, not yet connected", nothing,
        [](rig& r) {
            r.lock().acquire(r.token());
        }},
    {"acquire", connect,
        [](rig& r) {
            r.lock().acquire(r.token());
        }},
    {"acquire, held by another", let_another_hold,
        [](rig& r) {
            r.lock().acquire(r.token());
        }},
    {"try_acquire", connect,
        [](rig& r) {
            r.lock().try_acquire(r.token());
        }},
    {"hold, not yet connected", nothing,
        [](rig& r) {
            r.lock().hold(some_work, r.token());
        }},
    {"hold", connect,
        [](rig& r) {
            r.lock().hold(some_work, r.token());
        }},
    {"extend", hold_lease,
        [](rig& r) {
            r.held.extend(r.token());
        }},
    {"release", hold_lease,
        [](rig& r) {
            r.held.release(r.token());
        }},
    {"lost", hold_unrenewed, [](rig& r) { r.held.lost(r.token()); }, errc::lease_lost},
    {"close, nothing held", connect,
        [](rig& r) {
            r.locker->close(r.token());
        }},
    {"close, a lease held", hold_lease,
        [](rig& r) {
            r.locker->close(r.token());
        }},
    {"close, not yet connected", nothing,
        [](rig& r) {
            r.locker->close(r.token());
        }},
};

const std::vector<asio::cancellation_type> types{
    asio::cancellation_type::terminal, asio::cancellation_type::total};

// The locker can be used after the operation.
void expect_usable(rig& r)
{
    r.give_back_what_was_granted();
    r.held = lease();
    run(*r.io, [](holdfast::lock lock) -> task {
        lease next = co_await lock.acquire();
        BOOST_TEST(next.held());
        co_await next.release();
    }(r.lock()));
}

void close_and_expect_no_work(rig& r)
{
    call<> closed;
    r.locker->close(closed.token());
    run_until(*r.io, [&] { return closed.done(); });
    BOOST_TEST(!closed.error(), closed.error().message());
    expect_no_work_left(*r.io);
}

// Returns false if the operation was done before.
bool cancel_after(
    int handlers, const subject& s, asio::cancellation_type type, cluster& c, const backend& store)
{
    rig r(store);
    s.prepare(r, c);
    s.start(r);
    BOOST_REQUIRE(r.completions() == 0);
    const bool too_late = r.done_after(handlers);
    r.signal.emit(type);
    run_until(
        *r.io, [&] { return r.completions() > 0; }, 20s);

    const error_code normal = s.result == errc{} ? error_code() : make_error_code(s.result);
    BOOST_TEST((r.error() == normal || (!too_late && r.error() == aborted)), r.error().message());
    BOOST_TEST((!r.error() || !r.was_given_a_lease()));
    if (std::string_view(s.name).substr(0, 5) != "close")
        expect_usable(r);
    close_and_expect_no_work(r);
    BOOST_TEST(r.completions() == 1);
    return !too_late;
}

BOOST_DATA_TEST_CASE(row_36_an_operation_can_be_cancelled_wherever_it_waits,
    boost::unit_test::data::make(operations), each)
{
    cluster c(3);
    const backend store = c.store();
    for (const auto type : types) {
        int handlers = 0;
        while (cancel_after(handlers, each, type, c, store)) {
            ++handlers;
            BOOST_REQUIRE(handlers < 200);
        }
        BOOST_TEST(handlers > 0);
    }
    c.wait_until_alone();
    BOOST_TEST(c.empty_within(ttl));
}

// Returns false if the operation was done before.
bool destroy_after(
    int handlers, bool context_first, const subject& s, cluster& c, const backend& store)
{
    rig r(store);
    s.prepare(r, c);
    s.start(r);
    if (r.done_after(handlers))
        return false;
    if (context_first)
        r.io.reset();
    r.locker.reset();
    r.io.reset();
    BOOST_TEST(r.completions() == 0);
    return true;
}

BOOST_DATA_TEST_CASE(row_37_all_can_be_destroyed_wherever_an_operation_waits,
    boost::unit_test::data::make(operations), each)
{
    cluster c(3);
    const backend store = c.store();
    for (const bool context_first : {false, true}) {
        int handlers = 0;
        while (destroy_after(handlers, context_first, each, c, store)) {
            ++handlers;
            BOOST_REQUIRE(handlers < 200);
        }
    }
    c.wait_until_alone(); // what was sent has been executed: the ttl runs
    BOOST_TEST(c.empty_within(std::max<steady::duration>(ttl, queue_ttl)));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
