#pragma once

#include "integration/sql/store.hpp"
#include "support/postgres_server.hpp"

#include <holdfast/postgresql.hpp>

#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

using tested_server = postgres_server;
using tested_session = postgres_session;

/// Whether a holder in another process is told that its lock was taken away.
inline constexpr bool tells_holders = true;

/// Settings of a server that change how it writes values.
inline std::vector<std::string> other_formats()
{
    return {"bytea_output=escape"};
}

inline backend store_in(const postgres_server& server, postgresql_options options = {})
{
    options.reconnect_max = std::chrono::milliseconds(200);
    options.create_table = true;
    return postgresql(server.where(), std::move(options));
}

/// The same for long statements on a busy machine.
inline backend patient_store_in(const postgres_server& server)
{
    return store_in(server, {.request_timeout = std::chrono::seconds(30)});
}

/// How the program `lock_holder` is told of the server. Precondition: it listens.
inline std::string for_holder(const postgres_server& server)
{
    return server.uri();
}

/// The statement of docs/postgresql.md that deletes old rows.
inline const std::string clean_up =
    "DELETE FROM holdfast_locks WHERE expires_at < now() - interval '1 day' AND waiters = '{}' "
    "AND token_end < (extract(epoch FROM now()) - 86400) * 1000000";

/// The rows that somebody holds or waits for.
inline std::string used_rows(const postgres_server& server)
{
    return server.run("SELECT count(*) FROM holdfast_locks WHERE owner <> '' OR waiters <> '{}'");
}

/// 20,000 rows whose names are no text, of which 2,000 are locked for an hour; and the locks "a%",
/// "a_", "ab", "b": LIKE would take the first two for more.
inline void insert_many_locks(const postgres_server& server)
{
    server.run("INSERT INTO holdfast_locks SELECT decode('ff', 'hex') || int4send(i), "
               "CASE WHEN i % 10 = 0 THEN 'x' ELSE '' END, 1, 2, now() + interval '1 hour' "
               "FROM generate_series(1, 20000) i");
    server.run("INSERT INTO holdfast_locks SELECT convert_to(name, 'UTF8'), 'x', 1, 2, "
               "now() + interval '1 hour' FROM unnest(ARRAY['a%', 'a_', 'ab', 'b']) n(name)");
}

inline void end_connections(const postgres_server& server)
{
    server.run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
               "WHERE application_name = 'holdfast'");
}

inline void cancel_statements(const postgres_server& server)
{
    server.run("SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity "
               "WHERE application_name = 'holdfast'");
}

/// Returns after a second in which nobody else could use the table.
inline void lock_table_for_a_second(const postgres_server& server)
{
    server.run("BEGIN; LOCK TABLE holdfast_locks IN ACCESS EXCLUSIVE MODE; "
               "SELECT pg_sleep(1); COMMIT");
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
