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

/// The same for a question.
class kept_question {
public:
    explicit kept_question(const sql::question& of)
        : as_(of),
          resource_(of.resource),
          end_(of.end),
          owner_(of.owner),
          address_(of.address)
    {}

    /// Valid as long as this object.
    sql::question get() const
    {
        sql::question made = as_;
        made.resource = resource_;
        made.end = end_;
        made.owner = owner_;
        made.address = address_;
        return made;
    }

private:
    sql::question as_;
    std::string resource_, end_, owner_, address_;
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
    /// An owner was told that its resource was taken, and whom to answer; or that answer.
    struct loss {
        std::string owner, address;
    };
    /// What another transaction has locked: the whole row, or only its key, as a guard does.
    enum class lock { row, key };

    std::variant<sql::answer, sql::failure> execute(const sql::statement& what);
    std::variant<sql::reply, sql::failure> execute(const sql::question& what);

    /// Those since the last call, of owners with an address.
    std::vector<turn> turns();
    std::vector<loss> losses();
    std::vector<loss> heard(); ///< the answers to them

    std::int64_t clock = 1'000'000'000'000; ///< in microseconds since the epoch
    std::map<std::string, resource> rows;
    std::map<std::string, lock> locked;
    /// As MariaDB does it: no statement waits for a row, or moves the end of an owner's lease back.
    bool passes_over = false;

private:
    bool is_locked(const sql::statement& what, const sql::entry& e, bool grants) const;
    const place* first_of(const resource& r) const;
    bool is_free_for(const resource& r, const std::string& owner) const;
    sql::token_block next_tokens(const resource& r) const;
    bool lasts(const resource& r, std::int64_t until) const;
    std::int64_t prolonged(const resource& r, std::int64_t until) const;
    std::optional<sql::row> want(const sql::statement& what, const sql::entry& e);
    std::optional<sql::row> give_back(const sql::statement& what, const sql::entry& e);
    std::optional<sql::row> renew(const sql::statement& what, const sql::entry& e);
    sql::row watch(const sql::entry& e) const;

    sql::sight sight_of(const std::string& name, const resource& r) const;
    sql::reply page(const sql::question& what) const;
    std::variant<sql::reply, sql::failure> take(const sql::question& what);

    std::vector<turn> turns_;
    std::vector<loss> losses_, heard_;
};

} // namespace holdfast::test
