// The commands for connections and for the server itself, of the model of a Redis server.
#include "support/redis_model_call.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::test {

namespace {

using resp_text::no_integer;
using resp_text::syntax;

constexpr std::string_view wrong_password =
    "WRONGPASS invalid username-password pair or user is disabled.";

} // namespace

bool redis_model::call::log_in(std::string_view user, std::string_view password)
{
    if (user != "default" || (!server.password_.empty() && password != server.password_)) {
        error(wrong_password);
        return false;
    }
    from.authenticated = true;
    return true;
}

bool redis_model::call::rename(std::string_view name)
{
    if (std::any_of(name.begin(), name.end(), [](char c) { return c < '!' || c > '~'; })) {
        error("ERR Client names cannot contain spaces, newlines or special characters.");
        return false;
    }
    from.name = name;
    return true;
}

void redis_model::call::hello()
{
    int version = from.protocol;
    if (argv.size() > 1) {
        const auto n = integer_of(argv[1]);
        if (!n)
            return error("ERR Protocol version is not an integer or out of range");
        if (*n < 2 || *n > 3)
            return error("NOPROTO unsupported protocol version");
        version = static_cast<int>(*n);
    }
    for (std::size_t i = 2; i < argv.size(); ++i) {
        const std::size_t more = argv.size() - i - 1;
        if (same(argv[i], "auth") && more >= 2) {
            if (!log_in(argv[i + 1], argv[i + 2]))
                return;
            i += 2;
        } else if (same(argv[i], "setname") && more >= 1) {
            if (!rename(argv[++i]))
                return;
        } else {
            return error("ERR Syntax error in HELLO option '" +
                         std::string(argv[i].substr(0, argv[i].find('\0'))) + "'");
        }
    }
    if (!authenticated())
        return error("NOAUTH HELLO must be called with the client already authenticated, otherwise "
                     "the HELLO AUTH <user> <pass> option can be used to authenticate the client "
                     "and select the RESP protocol version at the same time");
    from.protocol = version;
    if (listener* const l = server.listening(from.id))
        l->protocol = version;
    map(7);
    bulk("server");
    bulk("redis");
    bulk("version");
    bulk("7.0.15");
    bulk("proto");
    integer(version);
    bulk("id");
    integer(static_cast<std::int64_t>(from.id));
    bulk("mode");
    bulk("standalone");
    bulk("role");
    bulk(server.state == trouble::read_only ? "replica" : "master");
    bulk("modules");
    array(0);
}

void redis_model::call::auth()
{
    if (argv.size() > 3)
        return error(syntax);
    if (argv.size() == 2 && server.password_.empty())
        return error("ERR AUTH <password> called without any password configured for the default "
                     "user. Are you sure your configuration is correct?");
    if (log_in(argv.size() == 3 ? argv[1] : "default", argv.back()))
        simple("OK");
}

void redis_model::call::select()
{
    using limits = std::numeric_limits<int>;
    const auto n = integer_of(argv[1]);
    if (!n)
        return error(no_integer);
    if (*n < limits::min() || *n > limits::max())
        return error("ERR value is out of range, value must between -2147483648 and 2147483647");
    if (*n < 0 || *n >= static_cast<std::int64_t>(server.data_.size()))
        return error("ERR DB index is out of range");
    from.database = static_cast<unsigned>(*n);
    simple("OK");
}

void redis_model::call::client_setname()
{
    if (rename(argv[2]))
        simple("OK");
}

void redis_model::call::client_getname()
{
    if (from.name.empty())
        return null();
    bulk(from.name);
}

void redis_model::call::client_id()
{
    integer(static_cast<std::int64_t>(from.id));
}

// It has only two of all sections.
void redis_model::call::info()
{
    const auto wants = [&](std::string_view wanted) {
        return argv.size() == 1 ||
               std::any_of(argv.begin() + 1, argv.end(), [&](std::string_view section) {
                   return same(section, wanted) || same(section, "default") ||
                          same(section, "all") || same(section, "everything");
               });
    };
    std::string sections;
    if (wants("server"))
        sections = "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:" +
                   server.run_id_ + "\r\n";
    if (wants("memory"))
        sections += std::string(sections.empty() ? "" : "\r\n") + "# Memory\r\nmaxmemory:" +
                    (server.state == trouble::out_of_memory ? "1" : "0") +
                    "\r\nmaxmemory_policy:noeviction\r\n";
    verbatim(sections);
}

void redis_model::call::role()
{
    if (server.state != trouble::read_only) {
        array(3);
        bulk("master");
        integer(0);
        return array(0);
    }
    array(5);
    bulk("slave");
    bulk("127.0.0.1");
    integer(6379);
    bulk("connect");
    integer(-1);
}

void redis_model::call::ping()
{
    if (argv.size() > 2)
        return error("ERR wrong number of arguments for 'ping' command");
    if (only_listens()) {
        array(2);
        bulk("pong");
        return bulk(argv.size() == 2 ? argv[1] : "");
    }
    if (argv.size() == 2)
        return bulk(argv[1]);
    simple("PONG");
}

void redis_model::call::time_now()
{
    array(2);
    bulk(std::to_string(wall.count() / 1000));
    bulk(std::to_string(wall.count() % 1000 * 1000));
}

void redis_model::call::quit()
{
    simple("OK");
    from.closed = true;
}

} // namespace holdfast::test
