#include "etcd/urls.hpp"

#include "core/address.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace holdfast::etcd_store {

namespace {

constexpr std::optional<std::uint16_t> default_port = 2379;
constexpr std::size_t longest_host = 253;

[[noreturn]] void reject(const char* what)
{
    throw std::invalid_argument(std::string("holdfast: etcd: a URL: ") + what);
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

    const core::authority parts = core::split_authority(url);
    if (parts.error != nullptr)
        reject(parts.error);
    if (parts.host.empty() || parts.host.size() > longest_host || !is_plain(parts.host))
        reject("the host must have 1 to 253 printable characters without a space");
    const auto port = parts.port ? core::port_number(*parts.port) : default_port;
    if (!port)
        reject("the port must be a number from 1 to 65535");
    member.where.host = parts.host;
    member.where.port = *port;
    member.name = core::in_words(member.where);
    return member;
}

} // namespace holdfast::etcd_store
