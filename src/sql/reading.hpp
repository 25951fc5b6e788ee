#pragma once

#include "sql/exchange.hpp"
#include "sql/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::sql {

// The answer to a statement. None if it is not the table that such a statement returns. Columns of
// each row: the ordinal of the entry from 1, a letter for the finding; for want also the clock, the
// tokens, the number ahead, and the time until the lease of the holder ends, in microseconds. want
// and give_back have one more, which is not read.
std::optional<answer> answer_in(action what, std::size_t entries, const result& table);

// The same for a question. Columns of look and page: the resource as hexadecimal digits, the owner,
// the time left, the last token, how many wait, the first of them, and `t` in the last row of a
// full page. Those of take: as of give_back, and one more that is not read.
std::optional<reply> reply_in(question::kind what, const result& table);

// A whole number in decimal digits.
std::optional<std::int64_t> number_in(std::string_view text);
std::optional<token_block> tokens_in(std::string_view first, std::string_view last);

// Appends them as hexadecimal digits.
void add_hex(std::string& to, std::string_view bytes);

} // namespace holdfast::sql
