#include "resp/command.hpp"

#include <cassert>
#include <charconv>
#include <iterator>

namespace holdfast::resp {

namespace {

// "$" or "*" with a number and the line end need 1 + 20 + 2 bytes at most.
constexpr std::size_t max_header = 24;

void append_header(std::string& out, char type, std::size_t n)
{
    char header[max_header];
    header[0] = type;
    char* end = std::to_chars(header + 1, std::end(header), n).ptr;
    *end++ = '\r';
    *end++ = '\n';
    out.append(header, static_cast<std::size_t>(end - header));
}

} // namespace

void append_command(std::string& out, std::initializer_list<std::string_view> arguments)
{
    append_command(out, std::span<const std::string_view>(arguments.begin(), arguments.size()));
}

void append_command(std::string& out, std::span<const std::string_view> arguments)
{
    assert(!arguments.empty());

    append_array_header(out, arguments.size());
    for (const std::string_view argument : arguments)
        append_blob(out, argument);
}

void append_array_header(std::string& out, std::size_t count)
{
    append_header(out, '*', count);
}

void append_blob(std::string& out, std::string_view argument)
{
    append_header(out, '$', argument.size());
    out.append(argument);
    out.append("\r\n", 2);
}

void append_blob(std::string& out, std::int64_t number)
{
    char digits[max_header];
    const char* const end = std::to_chars(digits, std::end(digits), number).ptr;
    append_blob(out, std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

} // namespace holdfast::resp
