#include "holdfast/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace holdfast::cli {

namespace {

struct character {
    std::uint32_t code = 0;
    std::size_t bytes = 0; // 0: no UTF-8
};

// The first character of the text, which is not empty.
character first_of(std::string_view text)
{
    const auto byte = [&](std::size_t i) {
        return static_cast<unsigned char>(text[i]);
    };
    const std::uint32_t first = byte(0);
    if (first < 0x80)
        return {first, 1};
    const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < bytes)
        return {};
    std::uint32_t code = first & (0x7fu >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0u) != 0x80u)
            return {};
        code = code << 6u | (byte(i) & 0x3fu);
    }
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return {};
    return {code, bytes};
}

// Controls, line separators, marks of direction, and marks without a width.
bool is_hidden(std::uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0xad || code == 0x61c ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
           (code >= 0xfff9 && code <= 0xfffb) || code >= 0xe0000;
}

// Wide characters begin at U+1100; some of those beyond it are narrow.
std::size_t width_of(std::uint32_t code)
{
    return code < 0x1100 || (code >= 0x2000 && code < 0x2600) ? 1 : 2;
}

} // namespace

std::string visible(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const character next = first_of(text);
        std::array<char, 16> escape{};
        if (next.bytes == 0 || (next.bytes == 1 && is_hidden(next.code)))
            std::snprintf(escape.data(), escape.size(), "\\x%02x",
                static_cast<unsigned>(static_cast<unsigned char>(text[0])));
        else if (is_hidden(next.code))
            std::snprintf(escape.data(), escape.size(), next.code > 0xffff ? "\\U%08x" : "\\u%04x",
                static_cast<unsigned>(next.code));
        const std::size_t taken = std::max<std::size_t>(next.bytes, 1);
        out += escape[0] != '\0' ? std::string_view(escape.data()) : text.substr(0, taken);
        text.remove_prefix(taken);
    }
    return out;
}

std::size_t columns_of(std::string_view text)
{
    std::size_t columns = 0;
    while (!text.empty()) {
        const character next = first_of(text);
        columns += width_of(next.code);
        text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
    }
    return columns;
}

std::string clipped(std::string_view text, std::size_t columns)
{
    std::size_t end = 0;
    while (end < text.size()) {
        const character next = first_of(text.substr(end));
        const std::size_t width = width_of(next.code);
        if (width > columns)
            break;
        columns -= width;
        end += std::max<std::size_t>(next.bytes, 1);
    }
    return std::string(text.substr(0, end));
}

std::vector<std::string> table::lines(const console& out, std::size_t columns) const
{
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], columns_of(row[i].text));
    }
    std::vector<std::string> all;
    for (const auto& row : rows_) {
        std::size_t left = columns == 0 ? std::numeric_limits<std::size_t>::max() : columns;
        std::string line, gap; // the gap before the next cell that is not empty
        for (std::size_t i = 0; i < row.size() && left > gap.size(); ++i) {
            const std::string text = clipped(row[i].text, left - gap.size());
            const std::size_t used = columns_of(text);
            if (used != 0) {
                line += gap + out.painted(text, row[i].colour);
                left -= gap.size() + used;
                gap.clear();
            }
            gap.append(widths[i] - used + 2, ' ');
        }
        all.push_back(std::move(line));
    }
    return all;
}

} // namespace holdfast::cli
