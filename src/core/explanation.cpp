#include "core/explanation.hpp"

#include "core/hex.hpp"

namespace holdfast::core {

namespace {

constexpr std::size_t longest_name = 160;

// A name is any bytes.
std::string printable(std::string_view name)
{
    std::string out;
    for (const char c : name.substr(0, longest_name)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '\\')
            out += c;
        else
            append_escaped(out, byte);
    }
    if (name.size() > longest_name)
        out += "...";
    return out;
}

// Whether the state of the nodes may be the cause.
bool is_up_to_nodes(const error_code& why)
{
    return why == condition::busy || why == condition::unavailable ||
           why == condition::misconfigured || why == errc::lease_lost;
}

} // namespace

std::string explanation_of(
    std::string_view resource, const error_code& why, bool holds, std::string_view nodes)
{
    std::string text = printable(resource);
    if (holds && why == errc::contended)
        text += ": a lease of this locker holds the resource; a holder that acquires it again "
                "waits for itself";
    if (!nodes.empty() && is_up_to_nodes(why))
        text.append(": ").append(nodes);
    return text;
}

} // namespace holdfast::core
