#include "sql/text.hpp"

#include <algorithm>
#include <cstddef>

namespace holdfast::sql {

namespace {

constexpr std::size_t longest_name = 63, longest_line = 200;

bool is_name(std::string_view part)
{
    const auto is_first = [](char c) {
        return (c >= 'a' && c <= 'z') || c == '_';
    };
    return !part.empty() && part.size() <= longest_name && is_first(part.front()) &&
           std::all_of(part.begin(), part.end(),
               [&](char c) { return is_first(c) || (c >= '0' && c <= '9'); });
}

} // namespace

bool is_table_name(const std::string& name)
{
    const auto dot = name.find('.');
    if (dot == name.npos)
        return is_name(name);
    return is_name(std::string_view(name).substr(0, dot)) &&
           is_name(std::string_view(name).substr(dot + 1));
}

std::string one_line(std::string_view text)
{
    std::string line(text.substr(0, std::min(text.find('\n'), longest_line)));
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
    return line;
}

} // namespace holdfast::sql
