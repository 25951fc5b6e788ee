#include "etcd/urls.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace holdfast::etcd_store {

namespace {

constexpr std::uint16_t default_port = 2379;
constexpr std::size_t longest_host = 253;

[[noreturn]] void reject(const char* what)
{
    throw std::invalid_argument(std::string("holdfast: etcd: a URL: ") + what);
}

std::uint16_t parse_port(std::string_view digits)
{
    std::uint16_t port = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, port);
    if (error != std::errc() || stopped != end || port == 0)
        reject("the port must be a number from 1 to 65535");
    return port;
}

bool is_plain(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

} // namespace

member_address parse_url(std::string_view url)
{
    member_address member;
    constexpr std::string_view plain = "http://", secure = "https://";
    if (url.starts_with(plain))
        url.remove_prefix(plain.size());
    else if (url.starts_with(secure))
        url.remove_prefix(secure.size()), member.secure = true;
    else
        reject("it must begin with http:// or https://");
    if (url.ends_with('/'))
        url.remove_suffix(1);
    if (url.find('@') != url.npos)
        reject("user and password belong in etcd_options");
    if (url.find_first_of("/?#") != url.npos)
        reject("after the host and the port there must be nothing");

    std::string_view host = url, port;
    bool has_port = false;
    if (url.starts_with('[')) {
        const std::size_t end = url.find(']');
        if (end == url.npos)
            reject("the bracket before the IPv6 address is not closed");
        host = url.substr(1, end - 1);
        const std::string_view rest = url.substr(end + 1);
        has_port = rest.starts_with(':');
        if (!rest.empty() && !has_port)
            reject("after the bracketed address there must be a port or nothing");
        if (host.find(':') == host.npos)
            reject("only an IPv6 address may be in brackets");
        port = has_port ? rest.substr(1) : rest;
    } else if (const std::size_t colon = url.find(':'); colon != url.npos) {
        if (url.find(':', colon + 1) != url.npos)
            reject("an IPv6 address must be in brackets");
        host = url.substr(0, colon);
        port = url.substr(colon + 1);
        has_port = true;
    }
    if (host.empty() || host.size() > longest_host || !is_plain(host))
        reject("the host must have 1 to 253 printable characters without a space");
    member.where.host = host;
    member.where.port = has_port ? parse_port(port) : default_port;
    const bool v6 = host.find(':') != host.npos;
    member.name = (v6 ? "[" + member.where.host + "]" : member.where.host) + ":" +
                  std::to_string(member.where.port);
    return member;
}

} // namespace holdfast::etcd_store
