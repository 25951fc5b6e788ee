#pragma once

#include "integration/sql/store.hpp"
#include "support/postgres_server.hpp"

#include <holdfast/postgresql.hpp>

#include <string>

namespace holdfast::test {

inline backend store_in(const postgres_server& server, postgresql_options options = {})
{
    options.reconnect_max = std::chrono::milliseconds(200);
    options.create_table = true;
    return postgresql(server.where(), std::move(options));
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

inline attempt try_with(const std::string& conninfo, postgresql_options options = {})
{
    options.connect_timeout = 10s;
    return try_with(postgresql(conninfo, options));
}

} // namespace holdfast::test
