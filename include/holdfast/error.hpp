#pragma once

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>

#include <type_traits>

namespace boost {
namespace asio {}
} // namespace boost

/// Distributed locks for Boost.Asio.
namespace holdfast {

namespace asio = boost::asio;
using error_code = boost::system::error_code;

/// Why an operation of this library did not do what was asked.
///
/// Every failure of an asynchronous operation is one of these, or `asio::error::operation_aborted`,
/// which means that the caller cancelled this very operation and never anything else. As the last
/// error of one node (`node_stats::last_error`) there may also be a code of the operating system,
/// such as "connection refused".
enum class errc {
    /// Somebody else held the resource every time we asked.
    contended = 1,
    /// Too few nodes gave a usable answer: the others were silent, or answered with errors.
    /// `locker::stats()` has each node's reason.
    unreachable,
    /// The resource was granted, but so late that too little of the lease was left to be useful.
    too_late,
    /// The lease could not be kept, or has ended: whatever it protected must stop.
    lease_lost,
    /// This lease was released before, or never held anything.
    not_held,
    /// A node refused our user name or password.
    authentication_failed,
    /// A node's access rules forbid a command that we need.
    permission_denied,
    /// The TLS handshake with a node failed; there is no fall-back to plain text.
    tls_failed,
    /// A node is not an independent primary: a replica, a sentinel, a cluster member, or one server
    /// listed twice. Or other clients use it with other `fencing_options`.
    misconfigured_node,
    /// A node sent bytes that are not the protocol; that connection was closed.
    protocol_error,
    /// Fencing tokens were asked for and a node cannot give them, or must not: it may have
    /// forgotten some, and is in quarantine.
    fencing_unavailable,
    /// The key of this resource holds data of another type, which is left untouched.
    key_conflict,
    /// A node did not answer within its timeout; what it did with the request is not known.
    no_reply,
    /// A node answered with an error of its own (loading, out of memory, disk full, busy).
    node_error,
    /// More is wanted than nodes or this process can serve in time: no attempt could be made within
    /// `wait`, or none was to be expected; or more callers wait than `locker_options::max_waiting`.
    overloaded,
    /// The operating system gave no random bits for an owner token.
    no_random_bits,
    /// The locker was closed.
    closed,
};

/// Groups of `errc`, for decisions: `if (ec == holdfast::condition::misconfigured)`.
enum class condition {
    /// Try again later: `contended`, `too_late`.
    busy = 1,
    /// The nodes or this machine are in trouble: `unreachable`, `no_reply`, `node_error`,
    /// `overloaded`, `no_random_bits`.
    unavailable,
    /// There is no lease: `lease_lost`, `not_held`.
    not_held,
    /// Waiting will not help, a person must act: `authentication_failed`, `permission_denied`,
    /// `tls_failed`, `misconfigured_node`, `protocol_error`, `fencing_unavailable`, `key_conflict`.
    /// But for a quarantine: `acquire()` waits for its end, as long as it may.
    misconfigured,
};

/// The category of `errc`, named "holdfast". Thread-safe; lives for ever.
const boost::system::error_category& error_category() noexcept;

/// The category of `condition`, named "holdfast.condition". Thread-safe; lives for ever.
const boost::system::error_category& condition_category() noexcept;

error_code make_error_code(errc e) noexcept;
boost::system::error_condition make_error_condition(condition c) noexcept;

} // namespace holdfast

template <>
struct boost::system::is_error_code_enum<holdfast::errc> : std::true_type {};

template <>
struct boost::system::is_error_condition_enum<holdfast::condition> : std::true_type {};
