#pragma once

#include <string>
#include <string_view>

namespace holdfast::sql {

// A name of a table that needs no quotes, with or without a schema.
bool is_table_name(const std::string& name);

// The first line, without control characters, and cut off if it is long.
std::string one_line(std::string_view text);

} // namespace holdfast::sql
