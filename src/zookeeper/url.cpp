#include "zookeeper/url.hpp"

#include "core/address.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

namespace holdfast::zookeeper_store {

namespace {

constexpr std::optional<std::uint16_t> default_port = 2181;
constexpr std::size_t longest_host = 253, longest_root = 256, most_servers = 31;

[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("holdfast: zookeeper: the URL: " + what);
}

bool is_plain(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

server_address parse_server(std::string_view text)
{
    const core::authority parts = core::split_authority(text);
    if (parts.error != nullptr)
        reject(parts.error);
    if (parts.host.empty() || parts.host.size() > longest_host || !is_plain(parts.host))
        reject("each host must have 1 to 253 printable characters without a space");
    const auto port = parts.port ? core::port_number(*parts.port) : default_port;
    if (!port)
        reject("each port must be a number from 1 to 65535");
    server_address server;
    server.where.host = parts.host;
    server.where.port = *port;
    server.name = core::in_words(server.where);
    return server;
}

// As ZooKeeper wants paths.
void check_root(std::string_view root)
{
    if (root.size() > longest_root || !is_plain(root) || root.find_first_of("?#") != root.npos)
        reject("the root must have at most 256 printable characters without a space, ? or #");
    while (!root.empty()) {
        root.remove_prefix(1); // the slash
        const std::string_view name = root.substr(0, root.find('/'));
        if (name.empty() || name == "." || name == "..")
            reject("the root must have no empty part, and none that is . or ..");
        root.remove_prefix(name.size());
    }
}

} // namespace

store_address parse_url(std::string_view url)
{
    store_address store;
    constexpr std::string_view plain = "zookeeper://", secure = "zookeepers://";
    if (url.starts_with(plain))
        url.remove_prefix(plain.size());
    else if (url.starts_with(secure))
        url.remove_prefix(secure.size()), store.secure = true;
    else
        reject("it must begin with zookeeper:// or zookeepers://");
    if (url.find('@') != url.npos)
        reject("user and password belong in zookeeper_options");

    const auto slash = url.find('/');
    if (slash == url.npos)
        store.root = "/holdfast";
    else if (slash + 1 != url.size())
        store.root = url.substr(slash);
    if (store.root.ends_with('/'))
        store.root.pop_back();
    check_root(store.root);

    std::set<std::string> seen;
    for (std::string_view rest = url.substr(0, slash);;) {
        const auto comma = rest.find(',');
        store.servers.push_back(parse_server(rest.substr(0, comma)));
        if (!seen.insert(store.servers.back().name).second)
            reject(store.servers.back().name + " is listed twice");
        if (store.servers.size() > most_servers)
            reject("more than 31 servers");
        if (comma == rest.npos)
            return store;
        rest.remove_prefix(comma + 1);
    }
}

wire::access parse_access(std::string_view text)
{
    constexpr std::size_t longest = 1024;
    constexpr std::string_view letters = "rwcda"; // in the order of the bits
    const auto wrong = [](const char* what) {
        throw std::invalid_argument(
            std::string("holdfast: zookeeper: an entry of acl must be scheme:id:permissions; ") +
            what);
    };
    const auto first = text.find(':'), last = text.rfind(':');
    if (text.size() > longest || !is_plain(text))
        wrong("it must have at most 1024 printable characters without a space");
    if (first == text.npos || first == last || first == 0)
        wrong("it has fewer than two colons, or no scheme");
    wire::access granted;
    granted.scheme = text.substr(0, first);
    granted.id = text.substr(first + 1, last - first - 1);
    for (const char c : text.substr(last + 1)) {
        const auto bit = letters.find(c);
        if (bit == letters.npos)
            wrong("the permissions are some of the letters c, d, r, w and a");
        granted.permissions |= std::int32_t(1) << bit;
    }
    if (granted.permissions == 0)
        wrong("there is no permission");
    return granted;
}

} // namespace holdfast::zookeeper_store
