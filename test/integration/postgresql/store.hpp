#pragma once

#include "support/call.hpp"
#include "support/postgres_server.hpp"
#include "support/run.hpp"

#include <holdfast/postgresql.hpp>

#include <cstdint>
#include <string>

namespace holdfast::test {

inline backend store_in(const postgres_server& server, postgresql_options options = {})
{
    options.reconnect_max = std::chrono::milliseconds(200);
    options.create_table = true;
    return postgresql(server.where(), std::move(options));
}

inline lock_options brief(std::chrono::milliseconds ttl = 3s)
{
    lock_options options;
    options.ttl = ttl;
    return options;
}

/// The rows that somebody holds or waits for.
inline std::string used_rows(const postgres_server& server)
{
    return server.run("SELECT count(*) FROM holdfast_locks WHERE owner <> '' OR waiters <> '{}'");
}

/// Waits until the server can be reached again, and has confirmed the lease.
inline task confirmed(lease& held)
{
    for (;;) {
        const auto [ec] = co_await held.extend(no_throw);
        BOOST_REQUIRE(held.held());
        if (!ec)
            co_return;
        BOOST_TEST(ec == errc::unreachable, ec.message());
        co_await pause(10ms);
    }
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

/// What becomes of a locker with such settings.
struct attempt {
    error_code error;
    std::string nodes; ///< what is told of the servers
};

/// Locks, waits and releases once.
inline attempt try_with(const std::string& conninfo, postgresql_options options = {})
{
    options.connect_timeout = 10s;
    scene s(postgresql(conninfo, options), 2);
    attempt made;
    run(s.io, [](scene& all, attempt& to) -> task {
        auto [failed, held] = co_await all.lock(0).acquire(6s, no_throw);
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
    }(s, made));
    made.nodes = describe_nodes(s.locker().stats());
    BOOST_TEST(made.nodes.find("secret") == std::string::npos, made.nodes);
    s.finish();
    return made;
}

} // namespace holdfast::test
