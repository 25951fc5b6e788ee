#include "mysql/error_code.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace holdfast::mysql_store {

namespace {

using remedy = sql::failure::remedy;

struct rule {
    unsigned number;
    errc reason;
    remedy what;
};

constexpr unsigned tls_error = 2026;
constexpr unsigned login_not_allowed = 5010;
const std::string timed_out = "(" + std::to_string(ETIMEDOUT) + ")"; // in the library's words

constexpr std::array rules{
    rule{1213, errc::contended, remedy::pass_over}, // deadlock
    rule{1205, errc::contended, remedy::pass_over}, // lock wait timeout
    rule{3572, errc::contended, remedy::pass_over}, // lock not available
    rule{1020, errc::contended, remedy::pass_over}, // changed since the statement began
    rule{1317, errc::no_reply, remedy::later},      // cancelled
    rule{1969, errc::no_reply, remedy::later},      // max_statement_time
    rule{3024, errc::no_reply, remedy::later},      // max_execution_time

    rule{1290, errc::misconfigured_node, remedy::reconnect}, // read-only
    rule{1836, errc::misconfigured_node, remedy::reconnect},
    rule{1792, errc::misconfigured_node, remedy::reconnect}, // a transaction that is read-only
    rule{1049, errc::misconfigured_node, remedy::reconnect}, // no such database
    rule{1046, errc::misconfigured_node, remedy::reconnect}, // no database
    rule{1146, errc::misconfigured_node, remedy::refuse},    // no such table
    rule{1054, errc::misconfigured_node, remedy::refuse},    // no such column
    rule{1176, errc::misconfigured_node, remedy::refuse},    // no such index
    rule{1665, errc::misconfigured_node, remedy::refuse},    // binlog_format = STATEMENT
    rule{1193, errc::misconfigured_node, remedy::reconnect}, // a setting that it does not know
    rule{1064, errc::misconfigured_node, remedy::reconnect}, // a version that is too old

    rule{1142, errc::permission_denied, remedy::refuse},
    rule{1143, errc::permission_denied, remedy::refuse},
    rule{1227, errc::permission_denied, remedy::refuse},
    rule{1044, errc::permission_denied, remedy::reconnect}, // to the database
    rule{1045, errc::authentication_failed, remedy::reconnect},
    rule{1698, errc::authentication_failed, remedy::reconnect}, // without a password
    rule{1130, errc::authentication_failed, remedy::reconnect}, // this host may not connect
    rule{1251, errc::authentication_failed, remedy::reconnect}, // a way to log in that is missing
    rule{1275, errc::authentication_failed, remedy::reconnect},
    rule{1820, errc::authentication_failed, remedy::reconnect}, // the password is too old
    rule{1862, errc::authentication_failed, remedy::reconnect},
    rule{3118, errc::authentication_failed, remedy::reconnect}, // the account is locked
    rule{4151, errc::authentication_failed, remedy::reconnect},
    rule{2059, errc::authentication_failed, remedy::reconnect}, // the library lacks a way to log in
    rule{2061, errc::authentication_failed, remedy::reconnect},
    rule{login_not_allowed, errc::authentication_failed, remedy::reconnect},

    rule{1040, errc::overloaded, remedy::reconnect}, // too many connections
    rule{1203, errc::overloaded, remedy::reconnect},
    rule{1226, errc::overloaded, remedy::reconnect},

    rule{1053, errc::unreachable, remedy::reconnect}, // it is shut down
    rule{1077, errc::unreachable, remedy::reconnect},
    rule{1927, errc::unreachable, remedy::reconnect}, // the connection was killed
    rule{1152, errc::unreachable, remedy::reconnect},
    rule{1158, errc::unreachable, remedy::reconnect},
    rule{1159, errc::unreachable, remedy::reconnect},
    rule{1160, errc::unreachable, remedy::reconnect},
    rule{1161, errc::unreachable, remedy::reconnect},
    rule{1184, errc::unreachable, remedy::reconnect},
    rule{1129, errc::unreachable, remedy::reconnect}, // this host is blocked
    rule{1153, errc::node_error, remedy::reconnect},  // the statement is too long

    rule{3159, errc::tls_failed, remedy::reconnect}, // the server requires TLS
    rule{tls_error, errc::tls_failed, remedy::reconnect},
    rule{2027, errc::protocol_error, remedy::reconnect}, // a message that is none
    rule{2007, errc::protocol_error, remedy::reconnect},
    rule{2020, errc::protocol_error, remedy::reconnect}, // a message that is too long
};

} // namespace

bool is_of_library(unsigned number) noexcept
{
    return (number >= 2000 && number < 3000) || (number >= 5000 && number < 6000);
}

sql::failure failure_of(unsigned number, std::string text)
{
    const auto found = std::find_if(
        rules.begin(), rules.end(), [number](const rule& r) { return r.number == number; });
    if (found != rules.end())
        return {found->reason, found->what, std::move(text), !is_of_library(number)};
    if (is_of_library(number))
        return {errc::unreachable, remedy::reconnect, std::move(text)};
    return {errc::node_error, remedy::refuse, std::move(text), true};
}

sql::failure connection_failure_of(unsigned number, std::string text)
{
    sql::failure found = failure_of(number, std::move(text));
    found.what = remedy::reconnect;
    if (number == tls_error && found.text.find(timed_out) != std::string::npos)
        found.reason = errc::no_reply;
    if (number == login_not_allowed) // the library's own text may show other parts of its memory
        found.text = std::to_string(number) + ": the server demands a way to log in that is not "
                                              "allowed without TLS, or not at all";
    return found;
}

} // namespace holdfast::mysql_store
