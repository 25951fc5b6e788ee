#pragma once

#include "sql/exchange.hpp"

#include <string>

namespace holdfast::postgresql_store {

// The texts of all statements for one table.
class statements {
public:
    explicit statements(const std::string& table);

    // Parameters: resources, owners, and for want and renew times to live in microseconds; for want
    // also flags to queue, and not_after. Columns of each row: the ordinal from 1, a letter for the
    // finding; for want also the clock, the tokens, the number ahead, and the time until the lease
    // of the holder ends. The last column of want and give_back is empty: it tells others.
    const std::string& of(sql::action what, bool waits) const noexcept
    {
        return texts_[static_cast<std::size_t>(what)][waits ? 1 : 0];
    }

    // Parameters of look: a resource; of page: the first one, and one that is behind the last; of
    // take: a resource, its owner, and the address of this locker, or -; of tell: an address, and
    // an owner. Columns of look and page: the resource as hexadecimal digits, the owner, the time
    // left, the last token, how many wait, the first of them, and whether it is the last row of a
    // full page. The columns of take are those of give_back, and one more that is empty.
    const std::string& of(sql::question::kind what, bool waits) const noexcept
    {
        return questions_[static_cast<std::size_t>(what)][waits ? 1 : 0];
    }

    // Parameter: the table. Columns: the process at the server, whether it is read-only, whether
    // commits are asynchronous, whether there is the table, whether it has its unique constraint,
    // the clock.
    const std::string& facts() const noexcept { return facts_; }
    // Ends processes that have been active for too long. Parameters: their numbers, when they
    // began, and that time in ms. Columns: the number of a process and when it began; one row is
    // that of this connection.
    const std::string& processes() const noexcept { return processes_; }
    const std::string& create() const noexcept { return create_; }

private:
    std::string texts_[sql::actions][2];
    std::string questions_[4][2];
    std::string facts_, processes_, create_;
};

} // namespace holdfast::postgresql_store
