// URLs of nodes: any text is taken or refused with a reason, and no secret comes to light.
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

// The URL that says the same.
std::string url_of(const endpoint& e)
{
    const bool login = !e.password().empty();
    const std::string who =
        login ? percent_encoded(e.user()) + ":" + percent_encoded(e.password()) + "@" : "";
    if (e.via() == endpoint::transport::unix_socket)
        return "unix://" + who + "/" + percent_encoded(e.path().substr(1));
    return (e.via() == endpoint::transport::tls ? "rediss://" : "redis://") + who + e.address();
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
    check(local == e.host().empty() && local != e.path().empty(), "a host or a path");
    check(local == (e.port() == 0), "a port for a host");
    check(!e.password().empty() || e.user().empty(), "a user has a password");
    check(e.host().find('@') == std::string::npos, "no part of a login gets into the host");
    check(!has_control(e.address()), "an address can be logged");
    try {
        check(same(endpoint(url_of(e)), e), "what was taken can be written and taken again");
    } catch (const std::invalid_argument&) {
        check(false, "what was taken can be written");
    }
    // The secret stood in the password only.
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
        check(what.starts_with("holdfast: endpoint: "), "a refusal says what was refused");
        check(what.find(secret) == std::string::npos, "no refusal holds the password");
        check(!has_control(what), "a refusal can be logged");
    }
    return 0;
}
