#pragma once

#include "sql/exchange.hpp"

#include <string>

namespace holdfast::mysql_store {

// The texts of all queries for one table. Each is one or more commands. Those of statements and
// questions end with a table that sql::answer_in() or sql::reply_in() reads; the results before it
// are empty. What callers have given is in them as hexadecimal digits and numbers alone.
class statements {
public:
    explicit statements(const std::string& table);

    std::string of(const sql::statement& what) const;
    // Of one entry that wants a resource or gives it back: for the case that nobody queues for it,
    // or else that it is the entry's turn to enter the queue, to leave it, or to be followed. A
    // statement that finds the entry locked has changed nothing, and another one has to be
    // executed. Empty for all other statements.
    std::string alone(const sql::statement& what) const;
    std::string in_queue(const sql::statement& what) const;
    // Of a want whose entries do not enter the queue: reads what it would find, and changes
    // nothing. An entry that it finds locked may be granted.
    std::string look_of(const sql::statement& what) const;
    std::string of(const sql::question& what) const;

    // Columns: whether the server is read-only, whether commits may be lost, the longest query in
    // bytes, whether there is the table, whether that has its indices, its engine, the clock.
    const std::string& facts() const noexcept { return facts_; }
    const std::string& create() const noexcept { return create_; }

private:
    static std::string short_text(
        const std::string& text, const sql::statement& what, const sql::entry& one);

    std::string give_back_, renew_, watch_, want_, wanted_, page_, look_, take_;
    std::string want_alone_, give_back_alone_, enter_queue_, take_turn_, hand_over_;
    std::string facts_, create_;
};

// Of this connection alone. `longest`: a statement may take so long.
std::string settings_text(core::duration longest);

// The query of a guard, with three parameters.
std::string guard_text(const std::string& table);

} // namespace holdfast::mysql_store
