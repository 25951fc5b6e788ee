#include <holdfast/lease.hpp>
#include <holdfast/mysql.hpp>

#include "mysql/statements.hpp"
#include "sql/reading.hpp"
#include "sql/text.hpp"

#include <stdexcept>

namespace holdfast {

mysql_guard make_mysql_guard(const lease& held, const std::string& table)
{
    if (!sql::is_table_name(table))
        throw std::invalid_argument(
            "holdfast: make_mysql_guard: the name of the table cannot be used");
    const auto token = held.fence();
    if (!token)
        throw std::invalid_argument(
            "holdfast: make_mysql_guard: the lease holds nothing, or has no token");
    std::string resource;
    sql::add_hex(resource, held.resource());
    const std::string number = std::to_string(*token);
    return {.statement = mysql_store::guard_text(table), .parameters = {resource, number, number}};
}

} // namespace holdfast
