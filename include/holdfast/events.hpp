#pragma once

#include <holdfast/detail/export.hpp>
#include <holdfast/error.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

/// How much an event matters.
enum class event_level : std::uint8_t {
    debug,   ///< the usual: each lease
    info,    ///< what explains later events
    warning, ///< something does not work, but leases may still be granted and kept
    error,   ///< a person should look
};

/// "debug", "info", "warning" or "error".
HOLDFAST_EXPORT std::string_view name_of(event_level level) noexcept;

/// Something that has happened in a locker, for `locker_options::on_event`.
struct event {
    /// What has happened. The members that each kind fills are named.
    enum class type : std::uint8_t {
        acquired,         ///< debug. A lease was granted or transferred: `resource`, `fence`
        released,         ///< debug. The holder gave its lease back: `resource`
        lost,             ///< error. A lease has ended while it was held: `resource`
        wait_failed,      ///< An acquire has failed: `resource`, `error`. info for `contended` and
                          ///< `closed`, error for `condition::misconfigured`, otherwise warning.
                          ///< Neither for a cancelled one, nor for a refused `try_acquire()`
        node_up,          ///< info; warning if the server was restarted. It is usable: `node`
        node_down,        ///< It is not usable: `node`, `error`, `text`. Again when the reason
                          ///< changes. error for `condition::misconfigured`, otherwise warning
        node_quarantined, ///< warning. With fencing, it may have forgotten tokens: `node`, `error`
        overload_began,   ///< warning. Acquires fail with `errc::overloaded`, as too much is
                          ///< asked for in all; not where too many wait for one resource
        overload_ended,   ///< info. None has failed so for a second, and attempts need not wait
        closing,          ///< info. The locker is being drained or closed
    };

    type kind{};            ///< what
    event_level level{};    ///< how much it matters
    std::string resource{}; ///< its name as it is: may contain any bytes. Empty if there is none
    std::string node{};     ///< the address of the node, without user and password. Or empty
    error_code error{};     ///< why. None if nothing went wrong
    std::string text{};     ///< more, in words; often empty. Safe to log
    std::optional<std::uint64_t> fence{};         ///< the token of the lease, where there is one
    std::chrono::system_clock::time_point time{}; ///< when it happened
};

/// "acquired", "node_down" …
HOLDFAST_EXPORT std::string_view name_of(event::type kind) noexcept;

/// One line for a log, without a line break and without the time:
/// `warning: node_down node=127.0.0.1:7001 error=connection refused`. Bytes of the resource that
/// are not printable ASCII are written as `\x0a`. Contains no secrets.
HOLDFAST_EXPORT std::string describe(const event& what);

} // namespace holdfast
