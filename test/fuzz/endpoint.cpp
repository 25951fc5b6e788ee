// URLs of nodes: any text is accepted, or refused with a reason, and no password is disclosed.
#include <holdfast/endpoint.hpp>

#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace {

using namespace holdfast::fuzz;
using holdfast::endpoint;

const std::string secret = "s3cret";

bool has_control(const std::string& text)
{
    return std::any_of(
        text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
}

std::string percent_encoded(std::string_view text)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
    return out;
}

// A URL for the same endpoint.
std::string url_of(const endpoint& e)
{
    const bool login = !e.password().empty();
    const std::string user =
        login ? percent_encoded(e.user()) + ":" + percent_encoded(e.password()) + "@" : "";
    if (e.via() == endpoint::transport::unix_socket)
        return "unix://" + user + "/" + percent_encoded(e.path().substr(1));
    return (e.via() == endpoint::transport::tls ? "rediss://" : "redis://") + user + e.address();
}

bool same(const endpoint& a, const endpoint& b)
{
    return a.via() == b.via() && a.host() == b.host() && a.port() == b.port() &&
           a.path() == b.path() && a.database() == b.database() && a.user() == b.user() &&
           a.password() == b.password() && a.address() == b.address();
}

void check_good(const endpoint& e, const std::string& url)
{
    const bool local = e.via() == endpoint::transport::unix_socket;
    check(
        local == e.host().empty() && local != e.path().empty(), "there is either a host or a path");
    check(local == (e.port() == 0), "a host has a port");
    check(!e.password().empty() || e.user().empty(), "a user has a password");
    check(e.host().find('@') == std::string::npos, "no part of a login is in the host");
    check(!has_control(e.address()), "an address can be logged");
    try {
        check(same(endpoint(url_of(e)), e), "an endpoint can be written as a URL and read again");
    } catch (const std::invalid_argument&) {
        check(false, "an endpoint can be written as a valid URL");
    }
    // The secret was only in the password.
    if (e.password().find(secret) != std::string::npos && url.find('%') == std::string::npos &&
        url.find(secret) == url.rfind(secret))
        check(e.address().find(secret) == std::string::npos, "no address holds the password");
}

std::string choose_url(input& in)
{
    static constexpr std::string_view schemes[] = {"redis://", "rediss://", "unix://"};
    if (in.below(4) == 0)
        return std::string(in.rest());
    std::string url(in.one_of(schemes));
    if (in.flag()) {
        url += in.text(in.below(8));
        url += ':' + secret;
        url += in.text(in.below(8));
        url += '@';
    }
    return url + std::string(in.rest());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    input in(data, size);
    const std::string url = choose_url(in);
    try {
        check_good(endpoint(url), url);
    } catch (const std::invalid_argument& refusal) {
        const std::string what = refusal.what();
        check(what.starts_with("holdfast: endpoint: "), "a refusal says that it is of an endpoint");
        check(what.find(secret) == std::string::npos, "no refusal holds the password");
        check(!has_control(what), "a refusal can be logged");
    }
    return 0;
}
