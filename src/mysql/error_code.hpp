#pragma once

#include "sql/exchange.hpp"

#include <string>

namespace holdfast::mysql_store {

// What an error of the server or of the library means, by its number. A statement that ended with
// an error of the server is not executed later; its commands before the one that has failed were
// executed. `text`: for people.
sql::failure failure_of(unsigned number, std::string text);

// Whether it is an error of the library: then there is no connection any more.
bool is_of_library(unsigned number) noexcept;

// The same for a connection that is not made, or is lost. The library tells the time that has run
// out while it shook hands as an error of TLS.
sql::failure connection_failure_of(unsigned number, std::string text);

} // namespace holdfast::mysql_store
