#include "postgresql/sqlstate.hpp"

#include "sql/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace holdfast::postgresql_store {

namespace {

using remedy = sql::failure::remedy;

struct rule {
    std::string_view state; // or the beginning of it: its class
    errc reason;
    remedy what;
};

// The first that fits.
constexpr std::array rules{
    rule{"40P01", errc::contended, remedy::pass_over},          // deadlock
    rule{"40001", errc::contended, remedy::pass_over},          // serialization
    rule{"55P03", errc::contended, remedy::pass_over},          // lock timeout
    rule{"57014", errc::no_reply, remedy::later},               // statement timeout, or cancelled
    rule{"25006", errc::misconfigured_node, remedy::reconnect}, // read-only
    rule{"42P01", errc::misconfigured_node, remedy::refuse},    // no such table
    rule{"42703", errc::misconfigured_node, remedy::refuse},    // no such column
    rule{"3F000", errc::misconfigured_node, remedy::refuse},    // no such schema
    rule{"3D000", errc::misconfigured_node, remedy::reconnect}, // no such database
    rule{"42501", errc::permission_denied, remedy::refuse},
    rule{"28", errc::authentication_failed, remedy::reconnect},
    rule{"26000", errc::node_error, remedy::reconnect}, // the prepared statement is gone
    rule{"42P05", errc::node_error, remedy::reconnect}, // or there is another one
    rule{"0A000", errc::node_error, remedy::reconnect}, // the table has changed since
    rule{"53300", errc::overloaded, remedy::reconnect}, // too many connections
    rule{"53", errc::node_error, remedy::refuse},       // disk full, out of memory
    rule{"57P", errc::unreachable, remedy::reconnect},  // shutdown, crash, starting
    rule{"08", errc::unreachable, remedy::reconnect},
    rule{"25P03", errc::unreachable, remedy::reconnect}, // idle for too long
    rule{"25P04", errc::unreachable, remedy::reconnect},
    rule{"", errc::node_error, remedy::refuse},
};

// That of "FATAL:  28P01: password …". The words before it may be in any language.
std::string_view state_in(std::string_view message)
{
    for (auto at = message.find(":  "); at != message.npos; at = message.find(":  ", at + 1)) {
        const std::string_view found = message.substr(at + 3, 5);
        if (found.size() == 5 && message.substr(at + 8, 2) == ": " &&
            std::all_of(found.begin(), found.end(),
                [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); }))
            return found;
    }
    return {};
}

} // namespace

sql::failure failure_of(std::string_view state, std::string text)
{
    const auto found = std::find_if(
        rules.begin(), rules.end(), [state](const rule& r) { return state.starts_with(r.state); });
    return {found->reason, found->what, std::move(text), true};
}

sql::failure connection_failure_of(std::string_view message)
{
    const std::string_view state = state_in(message);
    if (!state.empty()) {
        sql::failure found = failure_of(state, sql::one_line(message.substr(message.find(state))));
        found.what = remedy::reconnect;
        return found;
    }
    const auto says = [message](std::string_view part) {
        return message.find(part) != message.npos;
    };
    std::string text = sql::one_line(message);
    if (says("no password supplied"))
        return {errc::authentication_failed, remedy::reconnect, std::move(text)};
    if (says("SSL") || says("certificate"))
        return {errc::tls_failed, remedy::reconnect, std::move(text)};
    return {errc::unreachable, remedy::reconnect, std::move(text)};
}

} // namespace holdfast::postgresql_store
