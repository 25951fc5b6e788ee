#pragma once

#include <holdfast/backend.hpp>
#include <holdfast/detail/export.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

class lease;

/// Settings of `postgresql()`. Checked by it.
struct postgresql_options {
    /// The table of the locks, with or without a schema before it: `locks.holdfast_locks`. Small
    /// letters, digits and `_`; at most 63 characters each. Locks in different tables are different
    /// locks.
    std::string table = "holdfast_locks";

    /// Makes the table when it is missing, if the user may do that. Otherwise a missing table is
    /// `errc::misconfigured_node`. The document on PostgreSQL has the statement for
    /// administrators.
    bool create_table = false;

    /// The `application_name` of the connection, for people who look at `pg_stat_activity`, unless
    /// the connection string sets one. At most 63 printable characters without a space.
    std::string client_name = "holdfast";

    /// Accepts `synchronous_commit = off` of the server, the database or the user. Commits of the
    /// last moments may be lost then when the server crashes, and a lock may be granted twice.
    /// Otherwise the connection sets it to `on`.
    bool allow_asynchronous_commit = false;

    /// How long a statement may take before another connection is tried: 10 ms to 60 s. Default: a
    /// quarter of the shortest ttl in use, from 500 ms to 2 s.
    std::optional<std::chrono::milliseconds> request_timeout{};
    /// How long a connection may take to be opened and prepared: 1 ms to 60 s.
    std::chrono::milliseconds connect_timeout{2000};
    /// Bounds of the random pauses before all servers are tried again. They grow from the first to
    /// the second: 1 ms to 1 h.
    std::chrono::milliseconds reconnect_min{50};
    /// As above.
    std::chrono::milliseconds reconnect_max{2000};
};

/// Locks in a table of a PostgreSQL database, version 12 or newer. Link `holdfast::postgresql`.
///
/// `conninfo` is a connection string of libpq: `postgresql://user@host:port/database`, or
/// `host=… dbname=…`. It may name several servers, at most 31, of which the one that accepts writes
/// is used. What it does not say is taken from libpq's environment variables and files, except
/// services. TLS is libpq's: `sslmode=verify-full`.
///
/// What is promised: while a lease is valid, no other client of this function has the lock, as long
/// as clocks run at about the same rate, the database's clock is not set forward by more than is
/// left of the ttl, and the database keeps what it has committed. A fail-over to a standby that is
/// behind forgets locks, and may grant them twice. Leases have a fencing token, strictly increasing
/// for each resource while the database keeps its data, or its clock is not set back. With
/// `guard()`, transactions in the same database exclude each other without any condition on clocks.
///
/// Each locker has one connection. All that is asked while a statement is under way goes into the
/// next statement. Waiters of all processes are served in the order in which they came. Behind a
/// pooler that gives each transaction another connection, it works, and waiters look for their turn
/// every few milliseconds instead of being told.
///
/// `locker::inspect()` and `list()` tell the locker that holds a lock, but not its process: a row
/// does not know it, and `lock_owner::client` is empty. `locker::force_release()` tells the holder
/// by a notification, and waits up to a second for its answer.
///
/// Throws `std::invalid_argument` if the connection string or an option cannot be used. The message
/// contains no part of the connection string.
HOLDFAST_EXPORT backend postgresql(const std::string& conninfo, postgresql_options options = {});

/// A query for the beginning of the transaction that changes the data which a lock protects.
///
/// If it returns a row, nobody else can be granted the lock until this transaction ends, whatever
/// clocks, pauses and networks do. If it returns none, the lease is over: roll back. Requirements:
/// - The data are in the same database as the table of the locks.
/// - The query is the first one of the transaction, which reads and writes after it alone.
/// - The transaction ends before the lease is released. A holder that releases earlier passes the
///   lease on to waiters of its own process, which the query does not keep out.
/// - The user may `SELECT` and `UPDATE` the table: rows are locked.
///
/// Keep such transactions short: meanwhile a lock whose lease has ended stays locked.
struct [[nodiscard]] postgresql_guard {
    std::string statement;               ///< the text, with the parameters `$1` and `$2`
    std::vector<std::string> parameters; ///< as text: for `PQexecParams`, without types
};

/// The guard of a lease of a locker that uses `postgresql()`. `table`: that of its options.
///
/// Throws `std::invalid_argument` if the lease holds nothing or has no token, or the name of the
/// table cannot be used.
HOLDFAST_EXPORT postgresql_guard guard(
    const lease& held, const std::string& table = "holdfast_locks");

} // namespace holdfast
