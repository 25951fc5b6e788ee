#pragma once

#include "integration/sql/store.hpp"
#include "support/mariadb_server.hpp"

#include <holdfast/mysql.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

using tested_server = mariadb_server;
using tested_session = mariadb_session;

/// Whether a holder in another process is told that its lock was taken away.
inline constexpr bool tells_holders = false;

/// Settings of a server that change how it writes values: none matters.
inline std::vector<std::string> other_formats()
{
    return {};
}

inline backend store_in(const mariadb_server& server)
{
    mysql_options options = server.login();
    options.reconnect_max = 200ms;
    options.create_table = true;
    return mysql(std::move(options));
}

/// The same for long statements on a busy machine.
inline backend patient_store_in(const mariadb_server& server)
{
    mysql_options options = server.login();
    options.request_timeout = 30s;
    return mysql(std::move(options));
}

/// How the program `lock_holder` is told of the server.
inline std::string for_holder(const mariadb_server& server)
{
    return "mysql:" + server.socket();
}

/// The statement of docs/mysql.md that deletes old rows.
inline const std::string clean_up =
    "DELETE FROM holdfast_locks WHERE expires_at < (UNIX_TIMESTAMP() - 86400) * 1000000 AND "
    "waiters = '' AND token_end < (UNIX_TIMESTAMP() - 86400) * 1000000";

/// The rows that somebody holds or waits for.
inline std::string used_rows(const mariadb_server& server)
{
    return server.run("SELECT COUNT(*) FROM holdfast_locks WHERE owner <> '' OR waiters <> ''");
}

/// 20,000 rows whose names are no text, of which 2,000 are locked for an hour; and the locks "a%",
/// "a_", "ab", "b": LIKE would take the first two for more.
inline void insert_many_locks(const mariadb_server& server)
{
    server.run("INSERT INTO holdfast_locks SELECT CONCAT(x'ff', UNHEX(LPAD(HEX(seq), 8, '0'))), "
               "IF(seq % 10 = 0, 'x', ''), 1, 2, UNIX_TIMESTAMP() * 1000000 + 3600000000, '' "
               "FROM seq_1_to_20000");
    server.run("INSERT INTO holdfast_locks SELECT n, 'x', 1, 2, "
               "UNIX_TIMESTAMP() * 1000000 + 3600000000, '' FROM (SELECT 'a%' AS n UNION SELECT "
               "'a_' UNION SELECT 'ab' UNION SELECT 'b') t");
}

/// KILL CONNECTION or KILL QUERY for all connections but its own, and one more.
inline void kill_all(const mariadb_server& server, const std::string& what, std::uint64_t but = 0)
{
    mariadb_session admin(server);
    for (const std::string& each :
        admin.run("SELECT id FROM information_schema.PROCESSLIST WHERE id <> CONNECTION_ID() AND "
                  "user = 'root' AND id <> " +
                  std::to_string(but))) {
        try {
            admin.run("KILL " + what + " " + each);
        } catch (const std::runtime_error&) { // it has ended
        }
    }
}

inline void end_connections(const mariadb_server& server)
{
    kill_all(server, "CONNECTION");
}

inline void cancel_statements(const mariadb_server& server)
{
    kill_all(server, "QUERY");
}

/// Returns after a second in which nobody else could use the table.
inline void lock_table_for_a_second(const mariadb_server& server)
{
    server.run("LOCK TABLES holdfast_locks WRITE; SELECT SLEEP(1); UNLOCK TABLES");
}

inline attempt try_with(mysql_options options)
{
    options.connect_timeout = 10s;
    return try_with(mysql(std::move(options)));
}

inline mysql_options making_table(mysql_options options)
{
    options.create_table = true;
    return options;
}

} // namespace holdfast::test
