#pragma once

#include <holdfast/backend.hpp>
#include <holdfast/detail/export.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

class lease;

/// TLS of connections to MariaDB and MySQL, which is that of libmariadb.
struct mysql_tls {
    /// The certificates of the authorities that may sign a server's certificate: a PEM file. Empty:
    /// those of the system.
    std::string ca_file{};
    /// The client's certificate and its private key: PEM files. Both or none.
    std::string certificate_file{};
    /// As above.
    std::string key_file{};
    /// Accepts any certificate of any server. Anyone on the network can then read and change all
    /// traffic. For tests only.
    bool accept_any_certificate = false;
};

/// Settings of `mysql()`. Checked by it.
struct mysql_options {
    /// The servers, 1 to 31: `host`, `host:port`, or the absolute path of a unix socket. The port
    /// is 3306 by default. An IPv6 address must be in brackets. One that accepts writes is used:
    /// name a primary and its replicas, not several servers that all accept writes.
    std::vector<std::string> hosts{};
    /// The login. 1 to 128 bytes without zero bytes.
    std::string user{};
    /// As above; may be empty. Secret: never logged.
    std::string password{};
    /// The database of the table. It must exist. May be empty if `table` names one.
    std::string database{};

    /// The table of the locks, with or without a database before it: `locks.holdfast_locks`. Small
    /// letters, digits and `_`; at most 63 characters each. Locks in different tables are different
    /// locks.
    std::string table = "holdfast_locks";
    /// Makes the table when it is missing, if the user may do that. Otherwise a missing table is
    /// `errc::misconfigured_node`.
    bool create_table = false;

    /// Encrypts connections over TCP. Without it they are not encrypted. The server's certificate
    /// is verified, and its name is compared with the host: then libmariadb looks the host up once
    /// more itself, and blocks meanwhile. Write an address as the host where that matters, and put
    /// it into the certificate. libmariadb also blocks while it shakes hands over TLS: each time
    /// that it waits for the server, for at most what is left of `connect_timeout`, rounded up to
    /// whole seconds. Versions of it before 3.3.20, and 3.4.0 and 3.4.1, are given no such limit: a
    /// server that stands still then blocks the thread.
    std::optional<mysql_tls> tls{};

    /// The `program_name` among the attributes of the connection, for people who look at the
    /// sessions of the server. At most 63 printable characters without a space.
    std::string client_name = "holdfast";

    /// Accepts a server that may lose its last commits when it crashes:
    /// `innodb_flush_log_at_trx_commit` is not 1, or it writes a binary log and `sync_binlog` is
    /// not 1. A lock may be granted twice then. Otherwise such a server is
    /// `errc::misconfigured_node`.
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

/// Locks in a table of MariaDB, version 10.6 or newer, or of MySQL, version 8.0.19 or newer. Link
/// `holdfast::mysql`. It was tested with MariaDB 10.11 only.
///
/// What is promised: while a lease is valid, no other client of this function has the lock, as long
/// as clocks run at about the same rate, the database's clock is not set forward by more than is
/// left of the ttl, and the database keeps what it has committed. A fail-over to a replica that is
/// behind forgets locks, and may grant them twice. Leases have a fencing token, strictly increasing
/// for each resource while the database keeps its data, or its clock is not set back. With
/// `make_mysql_guard()`, transactions in the same server exclude each other without any condition
/// on clocks.
///
/// Each locker has one connection. All that is asked while a statement is under way goes into the
/// next statement. Waiters of all processes are served in the order in which they came. These
/// servers tell nobody anything, so waiters look for their turn: the first one every 1 to 5 ms,
/// those behind it less often, and all waiters of a locker together no more than 20,000 times a
/// second, in statements that read many rows. A holder whose lease lingers looks for waiters every
/// 20 ms in the same way.
///
/// `locker::inspect()` and `list()` tell the locker that holds a lock, but not its process: a row
/// does not know it, and `lock_owner::client` is empty. `locker::force_release()` tells the holder
/// nothing, and `forced_release::told` is false: it learns that its lease is lost when it renews
/// it.
///
/// libmariadb sets the signal SIGPIPE to ignored, for the whole process.
///
/// Throws `std::invalid_argument` if an option cannot be used. The message never contains the
/// password.
HOLDFAST_EXPORT backend mysql(mysql_options options);

/// A query for the beginning of the transaction that changes the data which a lock protects.
///
/// If it returns a row, nobody else can be granted the lock until this transaction ends, whatever
/// clocks, pauses and networks do. If it returns none, the lease is over: roll back. Requirements:
/// - The data are in the same server as the table of the locks, in tables of InnoDB.
/// - The query is the first one of the transaction, which reads and writes after it alone.
/// - The transaction is `READ COMMITTED`. Under stricter isolation it excludes others just as well,
///   but it also delays locks whose names are next to that of its own, and renewals if it is
///   `SERIALIZABLE`.
/// - The transaction ends before the lease is released. A holder that releases earlier passes the
///   lease on to waiters of its own process, which the query does not keep out.
/// - The user may `SELECT` and `UPDATE` the table: a row is locked.
///
/// It locks the entry of the lease in the index `guard` of the table, which each grant changes and
/// no renewal does: so leases are renewed meanwhile, and others may enter the queue. Keep such
/// transactions short: meanwhile a lock whose lease has ended stays locked.
struct [[nodiscard]] mysql_guard {
    std::string statement;               ///< the text, with three parameters `?`
    std::vector<std::string> parameters; ///< letters and digits: may be put into quotes instead
};

/// The guard of a lease of a locker that uses `mysql()`. `table`: that of its options.
///
/// Throws `std::invalid_argument` if the lease holds nothing or has no token, or the name of the
/// table cannot be used.
HOLDFAST_EXPORT mysql_guard make_mysql_guard(
    const lease& held, const std::string& table = "holdfast_locks");

} // namespace holdfast
