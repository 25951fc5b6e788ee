#include "mysql/hosts.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace holdfast::mysql_store {

namespace {

constexpr std::optional<std::uint16_t> default_port = 3306;
constexpr std::size_t longest_host = 253, longest_path = 107, most_servers = 31;

[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("holdfast: mysql: hosts: " + what);
}

server_address parse_host(std::string_view text)
{
    const bool plain = std::all_of(
        text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f && c != '@'; });
    if (text.empty() || !plain)
        reject("a host must have printable characters without a space, and user and password "
               "belong in mysql_options");
    if (text.front() == '/') {
        if (text.size() > longest_path)
            reject("the path of a unix socket has at most 107 characters");
        return {{.host = {}, .port = 0, .path = std::string(text)}, std::string(text)};
    }
    const core::authority parts = core::split_authority(text);
    if (parts.error != nullptr)
        reject(parts.error);
    if (parts.host.empty() || parts.host.size() > longest_host ||
        parts.host.find('/') != parts.host.npos)
        reject("it must be a host, host:port, or the absolute path of a unix socket");
    const auto port = parts.port ? core::port_number(*parts.port) : default_port;
    if (!port)
        reject("a port must be a number from 1 to 65535");
    return {{.host = std::string(parts.host), .port = *port, .path = {}},
        core::host_and_port(parts.host, *port)};
}

} // namespace

std::vector<server_address> parse_hosts(const std::vector<std::string>& hosts)
{
    if (hosts.empty() || hosts.size() > most_servers)
        reject("there must be 1 to 31 of them");
    std::vector<server_address> all;
    for (const std::string& each : hosts)
        all.push_back(parse_host(each));
    return all;
}

} // namespace holdfast::mysql_store
