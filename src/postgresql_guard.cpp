#include <holdfast/lease.hpp>
#include <holdfast/postgresql.hpp>

#include "postgresql/encoding.hpp"
#include "sql/text.hpp"

#include <stdexcept>

namespace holdfast {

postgresql_guard guard(const lease& held, const std::string& table)
{
    if (!sql::is_table_name(table))
        throw std::invalid_argument("holdfast: guard: the name of the table cannot be used");
    const auto token = held.fence();
    if (!token)
        throw std::invalid_argument("holdfast: guard: the lease holds nothing, or has no token");
    // FOR KEY SHARE keeps out each change of the key (resource, token_end), as a grant makes it,
    // and lets renewals pass.
    return {.statement = "SELECT 1 FROM " + table +
                         " WHERE resource = $1::bytea AND token <= $2::bigint"
                         " AND $2::bigint <= token_end FOR KEY SHARE",
        .parameters = {postgresql_store::bytes_text(held.resource()), std::to_string(*token)}};
}

} // namespace holdfast
