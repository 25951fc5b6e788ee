#include "postgresql/conninfo.hpp"

#include <libpq-fe.h>

#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace holdfast::postgresql_store {

namespace {

constexpr std::size_t longest_text = 65'536, most_servers = 31;

[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("holdfast: postgresql: the connection string " + what);
}

struct free_options {
    void operator()(PQconninfoOption* each) const noexcept { ::PQconninfoFree(each); }
};
using options = std::unique_ptr<PQconninfoOption, free_options>;

std::map<std::string, std::string> values_of(const options& all)
{
    std::map<std::string, std::string> values;
    for (const PQconninfoOption* each = all.get(); each != nullptr && each->keyword != nullptr;
         ++each) {
        if (each->val != nullptr)
            values.emplace(each->keyword, each->val);
    }
    return values;
}

std::vector<std::string> split(std::string_view list)
{
    std::vector<std::string> parts;
    for (;;) {
        const auto comma = list.find(',');
        parts.emplace_back(list.substr(0, comma));
        if (comma == list.npos)
            return parts;
        list.remove_prefix(comma + 1);
    }
}

std::uint16_t port_of(const std::string& text)
{
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > 65535)
        reject("has a port that is none");
    return static_cast<std::uint16_t>(value);
}

server_address server_at(const std::string& host, const std::string& address, std::string port)
{
    server_address made;
    if (port.empty())
        port = "5432";
    made.port = port;
    made.host = host;
    const bool local =
        address.empty() && (host.empty() || host.front() == '/' || host.front() == '@');
    if (local)
        made.where.path = host.empty() ? "/" : host;
    else
        made.where.host = address.empty() ? host : address;
    made.where.port = port_of(port);
    const std::string& shown = host.empty() ? address : host;
    made.name = (shown.find(':') != shown.npos ? "[" + shown + "]" : shown) + ":" + port;
    if (local && host.empty())
        made.name = "local socket:" + port;
    return made;
}

// One host name may stand for several addresses: with `sslmode=verify-full` it is that of the
// certificate.
void tell_apart(std::vector<server_address>& servers)
{
    std::map<std::string, std::size_t> times;
    for (const server_address& each : servers)
        ++times[each.name];
    for (server_address& each : servers) {
        if (times[each.name] > 1 && !each.where.host.empty() && each.where.host != each.host)
            each.name += " (" + each.where.host + ")";
    }
}

} // namespace

connection_string parse_conninfo(const std::string& text)
{
    if (text.size() > longest_text)
        reject("is too long");
    if (text.find('\0') != text.npos)
        reject("has a zero byte");
    char* error = nullptr; // quotes parts of the text
    const options parsed(::PQconninfoParse(text.c_str(), &error));
    if (error != nullptr)
        ::PQfreemem(error);
    if (!parsed)
        reject("cannot be read: it must be a URI that begins with postgresql://, or a list of "
               "name=value");
    auto given = values_of(parsed);
    if (given.contains("service"))
        reject("names a service: write its parameters instead");
    if (!given.contains("host") && !given.contains("hostaddr")) {
        const options defaults(::PQconndefaults());
        const auto values = values_of(defaults);
        for (const char* const each : {"host", "hostaddr", "port"}) {
            if (const auto found = values.find(each); found != values.end())
                given.emplace(each, found->second);
        }
    }

    const auto hosts = split(given["host"]), addresses = split(given["hostaddr"]),
               ports = split(given["port"]);
    const std::size_t count = given["hostaddr"].empty() ? hosts.size() : addresses.size();
    if (count > most_servers)
        reject("names more than 31 servers");
    if (!given["hostaddr"].empty() && !given["host"].empty() && hosts.size() != addresses.size())
        reject("has other numbers of host and hostaddr");
    if (ports.size() != 1 && ports.size() != count)
        reject("has other numbers of host and port");
    connection_string made;
    for (std::size_t i = 0; i < count; ++i)
        made.servers.push_back(server_at(given["host"].empty() ? "" : hosts[i],
            given["hostaddr"].empty() ? "" : addresses[i],
            ports.size() == 1 ? ports.front() : ports[i]));
    tell_apart(made.servers);
    given.emplace("gssencmode", "disable"); // Kerberos may block
    for (const auto& [name, value] : given) {
        if (name != "host" && name != "hostaddr" && name != "port" && !value.empty())
            made.others.emplace_back(name, value);
    }
    return made;
}

} // namespace holdfast::postgresql_store
