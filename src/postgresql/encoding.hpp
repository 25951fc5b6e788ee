#pragma once

#include "postgresql/result.hpp"
#include "sql/exchange.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::postgresql_store {

// A bytea as text: "\x6162".
std::string bytes_text(std::string_view bytes);

// The parameters of a statement, as text.
std::vector<std::string> parameters_of(const sql::statement& what);

// The answer to such a statement. None if it is not the table that such a statement returns.
std::optional<sql::answer> answer_in(sql::action what, std::size_t entries, const result& table);

// The same for a question.
std::vector<std::string> parameters_of(const sql::question& what);
std::optional<sql::reply> reply_in(sql::question::kind what, const result& table);

// The notification of a hand-over, from the old holder to the new one.
struct told_turn {
    std::string_view owner;
    sql::token_block tokens;
};
std::optional<told_turn> turn_in(std::string_view notification);

// The notification of an owner from whom its resource was taken.
struct told_loss {
    std::string_view owner;
    std::string_view address; // of the locker that took it; empty: it needs no answer
};
std::optional<told_loss> loss_in(std::string_view notification);

// The owner that is told of its loss, as the answer to the locker that took its resource says.
std::optional<std::string_view> told_in(std::string_view notification);

// A whole number in decimal digits.
std::optional<std::int64_t> number_in(std::string_view text);

} // namespace holdfast::postgresql_store
