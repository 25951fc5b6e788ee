#include <holdfast/events.hpp>

namespace holdfast {

namespace {

// Anything may be in the name of a resource, and in the text of a server.
std::string in_one_line(std::string_view text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string line;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '\\') {
            line += c;
        } else {
            line += "\\x";
            line += digits[byte / 16];
            line += digits[byte % 16];
        }
    }
    return line;
}

} // namespace

std::string_view name_of(event_level level) noexcept
{
    switch (level) {
    case event_level::debug:
        return "debug";
    case event_level::info:
        return "info";
    case event_level::warning:
        return "warning";
    case event_level::error:
        return "error";
    }
    return "unknown";
}

std::string_view name_of(event::type kind) noexcept
{
    switch (kind) {
    case event::type::acquired:
        return "acquired";
    case event::type::released:
        return "released";
    case event::type::lost:
        return "lost";
    case event::type::wait_failed:
        return "wait_failed";
    case event::type::node_up:
        return "node_up";
    case event::type::node_down:
        return "node_down";
    case event::type::node_quarantined:
        return "node_quarantined";
    case event::type::overload_began:
        return "overload_began";
    case event::type::overload_ended:
        return "overload_ended";
    case event::type::closing:
        return "closing";
    }
    return "unknown";
}

std::string describe(const event& what)
{
    std::string line(name_of(what.level));
    line += ": ";
    line += name_of(what.kind);
    if (!what.resource.empty())
        line += " resource=" + in_one_line(what.resource);
    if (!what.node.empty())
        line += " node=" + in_one_line(what.node);
    if (what.fence)
        line += " fence=" + std::to_string(*what.fence);
    const std::string why = what.error ? what.error.message() : std::string();
    if (!why.empty())
        line += " error=" + in_one_line(why);
    if (!what.text.empty() && what.text != why)
        line += " text=" + in_one_line(what.text);
    return line;
}

} // namespace holdfast
