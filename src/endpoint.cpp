#include <holdfast/endpoint.hpp>

#include "core/address.hpp"

#include <algorithm>
#include <stdexcept>

namespace holdfast {

namespace {

constexpr std::size_t longest_socket_path = 107; // what fits into a sockaddr_un

// `what` names the part and the error. It never quotes the URL, which may contain a password.
[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("holdfast: endpoint: " + what);
}

int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

std::string percent_decoded(std::string_view text, const char* part)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const int high = i + 1 < text.size() ? hex_value(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            reject(std::string("the ") + part + " has a '%' without two hexadecimal digits");
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

bool is_printable(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

// Such a character could make a logged address look like several lines.
bool has_control_character(std::string_view text)
{
    return std::any_of(
        text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
}

} // namespace

endpoint::endpoint(std::string_view url)
{
    const std::size_t scheme_end = url.find("://");
    if (scheme_end == std::string_view::npos)
        reject("no scheme; it must begin with redis://, rediss:// or unix://");
    const std::string_view scheme = url.substr(0, scheme_end);
    if (scheme == "redis")
        via_ = transport::tcp;
    else if (scheme == "rediss")
        via_ = transport::tls;
    else if (scheme == "unix")
        via_ = transport::unix_socket;
    else
        reject("unknown scheme; it must be redis, rediss or unix");

    std::string_view rest = url.substr(scheme_end + 3);
    if (rest.find_first_of("?#") != std::string_view::npos)
        reject("a '?' or '#' is not supported; percent-encode it in a user name or password");

    const std::size_t slash = rest.find('/');
    std::string_view authority = rest.substr(0, slash);
    std::string_view path = slash == std::string_view::npos ? "" : rest.substr(slash);
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
        const std::string_view login = authority.substr(0, at);
        const std::size_t colon = login.find(':');
        user_ = percent_decoded(login.substr(0, colon), "user name");
        if (colon != std::string_view::npos)
            password_ = percent_decoded(login.substr(colon + 1), "password");
        if (password_.empty())
            reject("a user name without a password; write user:password@ or omit both");
        authority = authority.substr(at + 1);
    }

    if (via_ == transport::unix_socket) {
        if (!authority.empty())
            reject("a unix socket has no host; the path begins with the third slash");
        if (path.size() < 2)
            reject("no path; it must be unix:///path/to/socket");
        path_ = percent_decoded(path, "path");
        if (path_.size() > longest_socket_path || has_control_character(path_))
            reject("the path must be at most 107 bytes long, without control characters");
        port_ = 0;
        return;
    }

    const core::authority where = core::split_authority(authority);
    if (where.error != nullptr)
        reject(where.error);
    if (where.host.empty())
        reject("no host");
    if (!is_printable(where.host))
        reject("the host contains a space or another invalid character");
    host_ = where.host;
    if (where.port) {
        const auto port = core::port_number(*where.port);
        if (!port)
            reject("the port must be a number from 1 to 65535");
        port_ = *port;
    }
    if (path.size() > 1) {
        const auto database = core::whole_number<unsigned>(path.substr(1));
        if (!database)
            reject("the path after the host must be the number of a database");
        database_ = *database;
    }
}

std::string endpoint::address() const
{
    if (via_ == transport::unix_socket)
        return path_;
    std::string text = core::host_and_port(host_, port_);
    if (database_ != 0)
        text += "/" + std::to_string(database_);
    return text;
}

} // namespace holdfast
