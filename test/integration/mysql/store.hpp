#pragma once

#include "integration/sql/store.hpp"
#include "support/mariadb_server.hpp"

#include <holdfast/mysql.hpp>

#include <string>
#include <utility>

namespace holdfast::test {

inline backend store_in(const mariadb_server& server)
{
    mysql_options options = server.login();
    options.reconnect_max = 200ms;
    options.create_table = true;
    return mysql(std::move(options));
}

/// The rows that somebody holds or waits for.
inline std::string used_rows(const mariadb_server& server)
{
    return server.run("SELECT COUNT(*) FROM holdfast_locks WHERE owner <> '' OR waiters <> ''");
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
