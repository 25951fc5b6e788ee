#pragma once

#include "sql/database.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::test {

/// A statement, with texts of its own.
class kept_statement {
public:
    explicit kept_statement(const sql::statement& of);

    /// Valid as long as this object.
    sql::statement get() const;

private:
    struct kept_entry {
        std::string resource, owner;
        core::duration ttl;
        bool queues;
    };
    sql::statement as_;
    std::vector<kept_entry> texts_;
    mutable std::vector<sql::entry> entries_;
};

/// The table of locks, and what the statements do with it. Time passes by `clock` alone.
class sql_model {
public:
    struct place {
        std::string owner;
        std::int64_t until = 0;
    };
    struct resource {
        std::string owner;
        sql::token_block tokens;
        std::int64_t expires_at = 0;
        std::vector<place> waiters;
    };
    /// An owner was given a resource by another one.
    struct turn {
        std::string owner;
        sql::token_block tokens;
    };
    /// What another transaction has locked: the whole row, or only its key, as a guard does.
    enum class lock { row, key };

    std::variant<sql::answer, sql::failure> execute(const sql::statement& what);

    /// Those since the last call, of owners with an address.
    std::vector<turn> turns();

    std::int64_t clock = 1'000'000'000'000; ///< in microseconds since the epoch
    std::map<std::string, resource> rows;
    std::map<std::string, lock> locked;

private:
    bool is_locked(const sql::statement& what, const sql::entry& e, bool grants) const;
    const place* first_of(const resource& r) const;
    bool is_free_for(const resource& r, const std::string& owner) const;
    sql::token_block next_tokens(const resource& r) const;
    std::optional<sql::row> want(const sql::statement& what, const sql::entry& e);
    std::optional<sql::row> give_back(const sql::statement& what, const sql::entry& e);
    std::optional<sql::row> renew(const sql::statement& what, const sql::entry& e);

    std::vector<turn> turns_;
};

} // namespace holdfast::test
