#include "holdfast/console.hpp"

#include "holdfast/reports.hpp"
#include "holdfast/text.hpp"

#include <boost/json/serialize.hpp>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <utility>

namespace holdfast::cli {

namespace {

bool has_colours(int stream)
{
    const char* const refused = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    return (refused == nullptr || *refused == '\0') && ::isatty(stream) == 1 &&
           terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string in_colour(std::string_view text, console::colour with)
{
    constexpr const char* codes[] = {"", "32", "33", "31"};
    return std::string("\x1b[") + codes[static_cast<int>(with)] + "m" + std::string(text) +
           "\x1b[0m";
}

std::string_view word_for(console::level severity)
{
    constexpr std::string_view names[] = {"error", "warning", "note", "detail"};
    return names[static_cast<int>(severity)];
}

// JSON for a terminal: escapes DEL and the C1 control characters as well (U+0080 to U+009F).
std::string escaped(std::string_view json)
{
    std::string out;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const auto byte = static_cast<unsigned char>(json[i]);
        const auto next = static_cast<unsigned char>(i + 1 < json.size() ? json[i + 1] : 0);
        const bool is_c1 = byte == 0xc2 && next >= 0x80 && next <= 0x9f;
        if (!is_c1 && byte != 0x7f) {
            out += json[i];
            continue;
        }
        const unsigned code = is_c1 ? next : byte;
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", code);
        out += escape;
        i += is_c1 ? 1u : 0u;
    }
    return out;
}

} // namespace

console::console(settings how)
    : how_(how),
      coloured_results_(has_colours(STDOUT_FILENO)),
      coloured_messages_(has_colours(STDERR_FILENO))
{}

void console::message(
    level severity, std::string_view event, std::string_view text, boost::json::object fields) const
{
    if ((how_.quiet && severity != level::error) || (!how_.verbose && severity == level::detail))
        return;
    const std::string safe = without_credentials(text);
    if (how_.json) {
        boost::json::object line{
            {"level", word_for(severity)}, {"event", event}, {"message", utf8(safe)}};
        for (auto& [key, value] : fields)
            line.insert_or_assign(key, std::move(value));
        std::cerr << escaped(boost::json::serialize(line)) + '\n';
        return;
    }
    std::string start = "holdfast: ";
    if (severity == level::error || severity == level::warning) {
        const auto with = severity == level::error ? colour::red : colour::yellow;
        const std::string word(word_for(severity));
        start += (coloured_messages_ ? in_colour(word, with) : word) + ": ";
    }
    std::cerr << start + visible(safe) + '\n';
}

void console::result(const boost::json::object& line) const
{
    result(escaped(boost::json::serialize(line)));
}

void console::result(std::string_view line) const
{
    std::cout << line << std::endl;
    if (!std::cout)
        throw std::runtime_error("cannot write to the standard output");
}

std::string console::painted(std::string_view text, colour with) const
{
    return coloured_results_ && with != colour::plain ? in_colour(text, with) : std::string(text);
}

std::string without_credentials(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const auto scheme = text.find("://");
        if (scheme == text.npos)
            break;
        const auto begin = scheme + 3;
        out += text.substr(0, begin);
        text.remove_prefix(begin);
        // A password may contain any of the characters that end an address. So take all up to the
        // last '@' of this word.
        const auto end = std::find_if(text.begin(), text.end(),
            [](unsigned char c) { return std::isspace(c) != 0 || c == ',' || c == '"'; });
        const auto at = text.substr(0, static_cast<std::size_t>(end - text.begin())).rfind('@');
        if (at != text.npos) {
            out += "***";
            text.remove_prefix(at);
        }
    }
    return out += text;
}

std::string_view without_prefix(std::string_view text)
{
    constexpr std::string_view prefix = "holdfast: ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

} // namespace holdfast::cli
