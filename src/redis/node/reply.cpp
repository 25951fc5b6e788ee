#include "redis/node/reply.hpp"

#include "core/hex.hpp"

#include <array>
#include <utility>

namespace holdfast::redis {

namespace {

constexpr std::size_t longest_text = 160;

// Source: the server errors in the documentation and source of Redis; the first word decides.
constexpr std::array<std::pair<std::string_view, errc>, 17> meanings{{
    {"NOAUTH", errc::authentication_failed},
    {"WRONGPASS", errc::authentication_failed},
    {"NOPERM", errc::permission_denied},
    {"ERR The user executing the script", errc::permission_denied}, // "… can't run this command"
    {"DENIED", errc::permission_denied},
    {"READONLY", errc::misconfigured_node},
    {"MASTERDOWN", errc::misconfigured_node},
    {"CLUSTERDOWN", errc::misconfigured_node},
    {"MOVED", errc::misconfigured_node},
    {"ASK", errc::misconfigured_node},
    {"TRYAGAIN", errc::misconfigured_node},
    {"CROSSSLOT", errc::misconfigured_node},
    {"WRONGTYPE", errc::key_conflict},
    {"UNKILLABLE", errc::protocol_error},
    {"NOTBUSY", errc::protocol_error},
    {"EXECABORT", errc::protocol_error},
    {"ERR Protocol error", errc::protocol_error},
}};

bool begins_with_word(std::string_view text, std::string_view word)
{
    return text.starts_with(word) &&
           (text.size() == word.size() || text[word.size()] == ' ' || text[word.size()] == ':');
}

// Some servers repeat text that they did not understand, which may be a password.
std::string without(std::string_view text, std::string_view secret)
{
    constexpr std::string_view instead = "(hidden)";
    std::string out(text);
    for (std::size_t at = secret.empty() ? out.npos : out.find(secret); at != out.npos;
         at = out.find(secret, at + instead.size()))
        out.replace(at, secret.size(), instead);
    return out;
}

} // namespace

vote vote_of(reply answer) noexcept
{
    const resp::value& v = answer.front();
    if (v.kind == resp::value_kind::simple_string && v.text == "OK")
        return vote::granted;
    if (v.kind == resp::value_kind::null)
        return vote::refused;
    return v.kind == resp::value_kind::error ? vote::failed : vote::unknown;
}

errc meaning_of(std::string_view error_text) noexcept
{
    for (const auto& [word, meaning] : meanings) {
        if (begins_with_word(error_text, word))
            return meaning;
    }
    return errc::node_error;
}

errc trouble_in(reply answer) noexcept
{
    const resp::value& v = answer.front();
    return v.kind == resp::value_kind::error ? meaning_of(v.text) : errc{};
}

bool is_no_script(reply answer) noexcept
{
    const resp::value& v = answer.front();
    return v.kind == resp::value_kind::error && begins_with_word(v.text, "NOSCRIPT");
}

// Source: the answers of Redis 6.0 to 7.2 when a command is renamed, or not allowed in scripts:
// "ERR unknown command 'ZADD'", "ERR Unknown Redis command called from script", "ERR This Redis
// command is not allowed from script", some preceded by text of the script.
bool refuses_command(std::string_view error_text) noexcept
{
    if (meaning_of(error_text) == errc::permission_denied)
        return true;
    if (!begins_with_word(error_text, "ERR"))
        return false;
    for (const std::string_view words : {"nknown command", "nknown Redis command",
             "not allowed from script", "can't run this command"}) {
        if (error_text.find(words) != error_text.npos)
            return true;
    }
    return false;
}

// In scripts, versions before 7.0 put their own text before that of the command.
bool is_about_data(std::string_view error_text) noexcept
{
    return begins_with_word(error_text, "WRONGTYPE") ||
           (begins_with_word(error_text, "ERR") && !refuses_command(error_text));
}

// Some versions put their own text before the error of a command in a script.
bool is_of_replica(std::string_view error_text) noexcept
{
    return begins_with_word(error_text, "READONLY") || begins_with_word(error_text, "MASTERDOWN") ||
           error_text.find("-READONLY ") != error_text.npos;
}

bool is_redirection(std::string_view error_text) noexcept
{
    return begins_with_word(error_text, "MOVED") || begins_with_word(error_text, "ASK") ||
           begins_with_word(error_text, "TRYAGAIN") || begins_with_word(error_text, "CLUSTERDOWN");
}

bool disqualifies(errc reason) noexcept
{
    return reason == errc::misconfigured_node || reason == errc::authentication_failed ||
           reason == errc::protocol_error;
}

std::string printable(std::string_view text)
{
    std::string out;
    for (const char c : text.substr(0, longest_text)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '\\')
            out += c;
        else
            core::append_escaped(out, byte);
    }
    if (text.size() > longest_text)
        out += "...";
    return out;
}

failure failure_of(std::string_view error_text, std::string_view secret)
{
    const std::string text = without(error_text, secret);
    std::string_view harmless = std::string_view(text).substr(0, text.find("with args"));
    while (harmless.ends_with(' ') || harmless.ends_with(','))
        harmless.remove_suffix(1);
    return {meaning_of(error_text), printable(harmless)};
}

failure failure_of(const error_code& why)
{
    const auto tls_failed = make_error_code(errc::tls_failed);
    const bool by_tls = why.default_error_condition() == tls_failed.default_error_condition();
    return {by_tls ? tls_failed : why, why.message()};
}

} // namespace holdfast::redis
