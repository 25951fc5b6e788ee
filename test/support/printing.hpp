#pragma once

// How our types are printed in messages of failed tests.

#include "core/locker_core.hpp"
#include "core/time.hpp"
#include "redis/quorum/vote_round.hpp"
#include "support/print.hpp"

#include <holdfast/error.hpp>

#include <array>
#include <ostream>
#include <string_view>

namespace holdfast {

inline std::string_view name_of(errc e)
{
    constexpr std::array<std::string_view, 18> names{"nothing", "contended", "unreachable",
        "too_late", "lease_lost", "not_held", "authentication_failed", "permission_denied",
        "tls_failed", "misconfigured_node", "protocol_error", "fencing_unavailable", "key_conflict",
        "no_reply", "node_error", "overloaded", "no_random_bits", "closed"};
    const auto index = static_cast<std::size_t>(e);
    return index < names.size() ? names[index] : "?";
}

namespace core {

inline std::ostream& boost_test_print_type(std::ostream& out, effect_kind kind)
{
    constexpr std::array<std::string_view, 8> names{
        "acquired", "wait_ended", "must_stop", "gone", "extended", "released", "drained", "closed"};
    return out << names[static_cast<std::size_t>(kind)];
}

inline std::ostream& boost_test_print_type(std::ostream& out, event_kind kind)
{
    constexpr std::array<std::string_view, 9> names{"granted", "refused", "queued", "validity",
        "lost", "released", "no_remote_waiters", "remote_waiters", "free_hint"};
    return out << names[static_cast<std::size_t>(kind)];
}

inline std::ostream& boost_test_print_type(std::ostream& out, lease_keeper::action action)
{
    constexpr std::array<std::string_view, 4> names{"none", "renew", "stop_work", "end"};
    return out << names[static_cast<std::size_t>(action)];
}

inline std::ostream& boost_test_print_type(std::ostream& out, lease_keeper::phase phase)
{
    constexpr std::array<std::string_view, 3> names{"kept", "stopping", "ended"};
    return out << names[static_cast<std::size_t>(phase)];
}

} // namespace core

namespace redis {

inline std::ostream& boost_test_print_type(std::ostream& out, vote v)
{
    constexpr std::array<std::string_view, 5> names{
        "pending", "granted", "refused", "failed", "unknown"};
    return out << names[static_cast<std::size_t>(v)];
}

inline std::ostream& boost_test_print_type(std::ostream& out, verdict v)
{
    constexpr std::array<std::string_view, 4> names{
        "undecided", "acquired", "contended", "unreachable"};
    return out << names[static_cast<std::size_t>(v)];
}

} // namespace redis

} // namespace holdfast

namespace std::chrono {

// In milliseconds.
inline std::ostream& boost_test_print_type(std::ostream& out, holdfast::core::duration d)
{
    return out << std::chrono::duration<double, std::milli>(d).count() << " ms";
}

inline std::ostream& boost_test_print_type(std::ostream& out, holdfast::core::time_point t)
{
    if (t == holdfast::core::never)
        return out << "never";
    if (t == holdfast::core::long_ago)
        return out << "long ago";
    return boost_test_print_type(out, t.time_since_epoch());
}

} // namespace std::chrono
