#pragma once

#include "support/call.hpp"
#include "support/run.hpp"

#include <holdfast/holdfast.hpp>

#include <cstdint>
#include <string>

namespace holdfast::test {

inline lock_options brief(std::chrono::milliseconds ttl = 3s)
{
    lock_options options;
    options.ttl = ttl;
    return options;
}

/// A lock in which many can try to be at once, to see that none is.
struct critical_section {
    int inside = 0, passed = 0;
    std::uint64_t last_token = 0;

    task pass(holdfast::lock lock, int times, steady::duration work = 1ms)
    {
        for (int i = 0; i < times; ++i) {
            lease held = co_await lock.acquire(forever);
            BOOST_TEST(inside == 0);
            ++inside;
            BOOST_TEST(held.fence().value_or(0) > last_token);
            last_token = held.fence().value_or(0);
            co_await pause(work);
            BOOST_TEST(held.held());
            --inside;
            ++passed;
            co_await held.release();
        }
    }
};

/// So many waiters pass a critical section so often each.
inline void take_turns(const backend& store, std::size_t lockers, std::size_t waiters, int times)
{
    scene s(store, lockers);
    critical_section section;
    std::vector<task> all;
    for (std::size_t i = 0; i < waiters; ++i)
        all.push_back(section.pass(s.lock(i % lockers, brief(10s)), times));
    run(s.io, std::move(all));
    BOOST_TEST(section.passed == static_cast<int>(waiters) * times);
    s.finish();
}

/// Some processes pass a critical section; meanwhile there is trouble: `what(server)`.
template <class Trouble, class Server>
void pass_during(const backend& store, Server& server, Trouble what)
{
    scene s(store, 3);
    critical_section section;
    std::vector<task> all;
    bool over = false;
    const auto pass = [](critical_section& where, holdfast::lock lock, bool& end) -> task {
        while (!end)
            co_await where.pass(lock, 1);
    };
    all.push_back([](Trouble trouble, Server& in, critical_section& where, bool& end) -> task {
        while (where.passed < 10)
            co_await pause(1ms);
        co_await trouble(in);
        const int before = where.passed;
        while (where.passed < before + 10)
            co_await pause(1ms);
        end = true;
    }(what, server, section, over));
    for (std::size_t i = 0; i < 3; ++i)
        all.push_back(pass(section, s.lock(i, brief(20s)), over));
    run(s.io, std::move(all));
    BOOST_TEST(
        s.locker(0).stats().lost + s.locker(1).stats().lost + s.locker(2).stats().lost == 0u);
    s.finish();
}

/// A lease lingers in one locker when another one comes to wait. The next renewal would come too
/// late to tell of it.
inline void take_from_lingering(const backend& store)
{
    scene s(store, 2);
    run(s.io, [](scene& all) -> task {
        lock_options sticky = brief(60s);
        sticky.linger = 60s;
        lease first = co_await all.lock(0, sticky).acquire();
        co_await first.release();
        co_await pause(300ms);
        BOOST_TEST(all.locker(0).stats().lingering == 1u);
        lease next = co_await all.lock(1, brief()).acquire(10s);
        BOOST_TEST(next.held());
        co_await next.release();
    }(s));
    s.finish();
}

/// A transaction of a user, which `begin` begins, has locked the row of one resource. That delays
/// this resource, and no other.
template <class Session>
void lock_others_beside_a_locked_row(
    const backend& store, Session& session, const std::string& begin)
{
    scene s(store, 1);
    run(s.io, [](scene& all, Session& user, std::string first) -> task {
        {
            lease held = co_await all.lock(0, brief(10s)).acquire();
            co_await held.release();
        }
        user.run(first);
        BOOST_TEST(user.run("SELECT 1 FROM holdfast_locks FOR UPDATE").size() == 1u);
        call<lease> waits;
        all.lock(0, brief(10s)).acquire(forever, waits.token());
        for (int i = 0; i < 50; ++i) {
            lease other =
                co_await holdfast::lock(all.locker(), "other" + std::to_string(i)).acquire(5s);
            co_await other.release();
        }
        BOOST_TEST(!waits.done());
        user.run("ROLLBACK");
        while (!waits.done())
            co_await pause(1ms);
        BOOST_TEST(!waits.error(), waits.error().message());
        waits.result<lease>() = lease();
    }(s, session, begin));
    s.finish();
}

/// What becomes of a locker with such settings.
struct attempt {
    error_code error;
    std::string nodes; ///< what is told of the servers
};

/// Locks, waits and releases once. `limit` is the longest wait for the first grant.
inline attempt try_with(const backend& store, std::chrono::milliseconds limit = 6s)
{
    scene s(store, 2);
    attempt made;
    run(s.io, [](scene& all, attempt& to, std::chrono::milliseconds longest) -> task {
        auto [failed, held] = co_await all.lock(0).acquire(longest, no_throw);
        to.error = failed;
        if (failed)
            co_return;
        call<lease> waits;
        all.lock(1).acquire(forever, waits.token());
        co_await pause(300ms);
        co_await held.release();
        while (!waits.done())
            co_await pause(1ms);
        to.error = waits.error();
        waits.result<lease>() = lease();
    }(s, made, limit));
    made.nodes = describe_nodes(s.locker().stats());
    BOOST_TEST(made.nodes.find("secret") == std::string::npos, made.nodes);
    s.finish();
    return made;
}

} // namespace holdfast::test
