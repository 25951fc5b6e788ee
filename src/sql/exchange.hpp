#pragma once

#include "core/time.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sql {

// The table has a row for each resource: who has it until when, and who waits for it. One statement
// does the same for many resources. All times are those of the database's clock.
enum class action : std::uint8_t {
    give_back, // the first waiter gets the resource, or it is free; or a place in the queue ends
    renew,     // the lease ends later
    watch,     // nothing changes: tells whether others wait for what the owner has
    want,      // takes the resource if it is free and our turn, else waits in the queue if wished
};
inline constexpr std::size_t actions = 4;

// The name of an owner is the token of its attempt. Behind an @ stands the address of its process,
// which is told about its turn. An owner whose name ends with this is also told, while it has the
// resource, that others wait for it.
inline constexpr std::string_view watching = "@w";

struct entry {
    std::string_view resource, owner;
    core::duration ttl{}; // of renew and want: from the execution of the statement on
    bool queues = false;  // want: may wait in the queue
    bool waits = false;   // want: it has been found there
};

struct statement {
    action what{};
    // It waits a little for rows that others have locked. Otherwise it passes them over.
    bool waits = true;
    // want: nothing is done after this time of the database's clock, in microseconds since the
    // epoch. So a statement without an answer is known not to be executed, after a while.
    std::int64_t not_after = INT64_MAX;
    std::span<const entry> entries{}; // no resource twice
};

// Fencing tokens of one grant, for its holders in one process.
struct token_block {
    std::uint64_t first = 0, last = 0;

    friend bool operator==(const token_block&, const token_block&) = default;
};

enum class finding : std::uint8_t {
    locked,   // nothing was done: another transaction has the row, or has just changed it
    granted,  // want: `tokens`; its lease has its full ttl again, if it had the resource before
    queued,   // want: `ahead`, `free_in`
    refused,  // want: nothing was done; `free_in`, and `ahead` if it has a place
    late,     // want: nothing was done, see not_after
    released, // give_back: it had the resource
    left,     // give_back: it had a place in the queue
    gone,     // give_back: it had neither
    renewed,  // renew
    kept,     // watch: it has the resource
    lost,     // renew, watch: it does not have the resource any more
};

struct row {
    static constexpr std::int64_t no_place = -1;

    std::size_t entry = 0; // its index
    finding what{};
    token_block tokens{};
    std::int64_t ahead = no_place; // so many wait before it
    core::duration free_in{};      // when the holder's lease ends
    bool others_wait = false;      // renewed, kept: somebody has a place in the queue
};

// What a statement has done. An entry without a row counts as `locked`.
struct answer {
    std::int64_t clock = 0; // of the database, in microseconds since the epoch; 0: unknown
    std::vector<row> rows{};
};

// What people ask about the table, or between lockers. Each is a short statement of its own.
struct question {
    enum class kind : std::uint8_t {
        look, // at the row of `resource`
        page, // at the next rows, of which most_in_page are read: from `resource` on, before `end`
        take, // `resource` from its `owner`, as if that one gave it back; both are told
        tell, // the locker at `address` that `owner` has heard that its resource was taken
    };
    kind what{};
    std::string_view resource{}, end{}, owner{};
    std::string_view address{}; // take: of this locker, to which the owner answers; may be empty
    bool waits = true;          // take: as in a statement
};
inline constexpr std::size_t most_in_page = 500, most_waiters_told = 1'000;

// Who has a resource now, and who waits. Owners and waiters whose time is over are left out.
struct sight {
    std::string resource{}, owner{}; // no owner: it is free
    core::duration left{};           // of the lease
    std::uint64_t fence = 0;         // the last token of the last grant
    std::size_t waiting = 0;
    std::vector<std::string> waiters{}; // look: the first of them, at most most_waiters_told
};

struct reply {
    std::vector<sight> rows{};       // look, page: in the order of their names
    bool more = false;               // page: there may be others, behind `last`
    std::string last{};              // page: the last row that was read
    finding taken = finding::locked; // take: as of give_back
};

// A statement has failed, or its connection has.
struct failure {
    enum class remedy : std::uint8_t {
        pass_over, // not executed, as rows were locked: again, without waiting for them
        later,     // perhaps executed: again, after a pause
        refuse,    // it does not help to try again
        reconnect, // the connection or its server cannot be used
    };
    errc reason{};
    remedy what{};
    std::string text{};
    bool was_told = false; // it is an error that the server has answered with
};

} // namespace holdfast::sql
