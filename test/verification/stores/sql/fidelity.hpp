#pragma once

#include "sql/database.hpp"
#include "support/sql_model.hpp"
#include "verification/simulation/dice.hpp"

#include <cstddef>
#include <string>
#include <variant>

namespace holdfast::test {

/// The table of a real server, over one connection. Another one may lock rows of it.
class real_table {
public:
    virtual ~real_table() = default;

    virtual std::variant<sql::answer, sql::failure> execute(const sql::statement& what) = 0;
    virtual std::variant<sql::reply, sql::failure> execute(const sql::question& what) = 0;
    virtual void lock(const std::string& resource, sql_model::lock how) = 0;
    virtual void unlock() = 0;
    /// Called after each statement. A database that notifies compares what it has told since the
    /// last call with what the model would have told.
    virtual void compare_told(sql_model&) {}
};

struct comparison {
    std::size_t statements = 0;
    std::size_t failed = 0; ///< in both, because a row was locked for too long
    std::size_t findings = 0;
    std::size_t taken = 0; ///< resources that were taken from their owners
};

/// Executes random statements in both, while rows are locked now and then, and checks that both
/// find the same, and that everything has been found. With `for_one`, some of the statements are
/// for one resource, for which a store may have shorter ones; nobody queues for one of these
/// resources.
comparison compare_with_model(
    real_table& real, sql_model& model, simulation::dice& random, bool for_one = false);

} // namespace holdfast::test
