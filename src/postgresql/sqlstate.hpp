#pragma once

#include "sql/exchange.hpp"

#include <string>
#include <string_view>

namespace holdfast::postgresql_store {

// What an error of the server means, by its SQLSTATE. A statement that ended with an error was not
// executed. `text`: of the server, for people.
sql::failure failure_of(std::string_view state, std::string text);

// Why no connection was made, by the message of libpq, which has the SQLSTATE in it if the server
// has sent one.
sql::failure connection_failure_of(std::string_view message);

} // namespace holdfast::postgresql_store
