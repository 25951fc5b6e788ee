#pragma once

#include "sql/exchange.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::postgresql_store {

// A bytea as text: "\x6162".
std::string bytes_text(std::string_view bytes);

// The parameters of a statement, as text.
std::vector<std::string> parameters_of(const sql::statement& what);

// The same for a question.
std::vector<std::string> parameters_of(const sql::question& what);

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

} // namespace holdfast::postgresql_store
