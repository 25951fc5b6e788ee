#pragma once

#include <holdfast/detail/export.hpp>

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
/// The type of all errors here.
using error_code = boost::system::error_code;

/// The reason why an operation of this library failed.
///
/// Every failure of an asynchronous operation is one of these or `asio::error::operation_aborted`.
/// The latter always means that the caller cancelled this operation, and nothing else. The last
/// error of a node (`node_stats::last_error`) may also be an error code of the operating system,
/// such as "connection refused".
enum class errc {
    /// Another holder had the resource at every attempt.
    contended = 1,
    /// Too few nodes gave a usable answer. The others were silent or answered with errors.
    /// `locker::stats()` has the reason for each node.
    unreachable,
    /// The resource was granted, but so late that too little of the lease was left to be useful.
    too_late,
    /// The lease could not be kept, or has ended: all work under it must stop.
    lease_lost,
    /// This lease was released before, or never held anything.
    not_held,
    /// A node refused the user name or password.
    authentication_failed,
    /// A node's access rules forbid a command that the library needs.
    permission_denied,
    /// The TLS handshake with a node failed. There is no fall-back to plain text.
    tls_failed,
    /// A node is not set up for locks. It is not an independent primary: a replica, a sentinel, a
    /// cluster member, or one server listed twice. Or it evicts keys when its memory is full, see
    /// `redlock_options::allow_eviction`. Or other clients use it with different `fencing_options`.
    /// Or no sentinel knows the service, or it is no member of a cluster where one is expected.
    /// `node_stats::reason` says which.
    misconfigured_node,
    /// A node sent bytes that violate the protocol. That connection was closed.
    protocol_error,
    /// Fencing tokens were requested, and a node cannot issue them or must not: it may have
    /// forgotten some, and is in quarantine.
    fencing_unavailable,
    /// The key of this resource holds data of another type, which is left untouched.
    key_conflict,
    /// A node did not answer within its timeout. The effect of the request is unknown.
    no_reply,
    /// A node answered with an error of its own (loading, out of memory, disk full, busy).
    node_error,
    /// The load is higher than the nodes or this process can serve in time: no attempt could be
    /// made within `wait`, or none can be expected; or more callers wait than
    /// `locker_options::max_waiting` or `lock_options::max_waiters`.
    overloaded,
    /// The operating system provided no random bits for an owner token.
    no_random_bits,
    /// The locker was closed, or is draining: it grants nothing any more. Or the batcher was
    /// closed.
    closed,
    /// The body of a batch ended with an exception that has no error code of its own, or a request
    /// could not be moved to its batch.
    batch_failed,
    /// The body of a batch gave more or fewer replies than the batch has requests.
    wrong_reply_count,
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
    /// Waiting does not help, a person must act: `authentication_failed`, `permission_denied`,
    /// `tls_failed`, `misconfigured_node`, `protocol_error`, `fencing_unavailable`, `key_conflict`.
    /// The exception is a quarantine: `acquire()` waits for its end, within `wait`.
    misconfigured,
};

/// The category of `errc`, named "holdfast". Thread-safe. Has static lifetime.
HOLDFAST_EXPORT const boost::system::error_category& error_category() noexcept;

/// The category of `condition`, named "holdfast.condition". Thread-safe. Has static lifetime.
HOLDFAST_EXPORT const boost::system::error_category& condition_category() noexcept;

/// Found by the conversion of an `errc` to an `error_code`.
HOLDFAST_EXPORT error_code make_error_code(errc e) noexcept;
/// Found by the comparison of an `error_code` with a `condition`.
HOLDFAST_EXPORT boost::system::error_condition make_error_condition(condition c) noexcept;

} // namespace holdfast

/// @cond
template <>
struct boost::system::is_error_code_enum<holdfast::errc> : std::true_type {};

template <>
struct boost::system::is_error_condition_enum<holdfast::condition> : std::true_type {};
/// @endcond
