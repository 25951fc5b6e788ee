#include "resp/command.hpp"

#include <cassert>
#include <charconv>
#include <cstring>

namespace holdfast::resp {

namespace {

// The largest size of a header: "$" or "*", a number and the line end.
constexpr std::size_t most_of_a_header = 1 + most_digits + 2;

constexpr std::size_t size_of_blob(std::string_view argument) noexcept
{
    return most_of_a_header + argument.size() + 2;
}

char* write_line_end(char* at) noexcept
{
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

char* write_header(char* at, char type, std::size_t n) noexcept
{
    *at++ = type;
    if (n < 100) {
        if (n >= 10)
            *at++ = static_cast<char>('0' + n / 10);
        *at++ = static_cast<char>('0' + n % 10);
    } else {
        at = std::to_chars(at, at + most_digits, n).ptr;
    }
    return write_line_end(at);
}

char* write_blob(char* at, std::string_view argument) noexcept
{
    at = write_header(at, '$', argument.size());
    if (!argument.empty())
        std::memcpy(at, argument.data(), argument.size());
    return write_line_end(at + argument.size());
}

// Makes room once and lets `write` fill as much of it as needed. Appending in pieces would cost
// more than the writing itself.
template <class Write>
void append(std::string& out, std::size_t room, Write write)
{
    const std::size_t start = out.size();
    out.resize(start + room);
    const char* const end = write(out.data() + start);
    out.resize(static_cast<std::size_t>(end - out.data()));
}

} // namespace

decimal::decimal(std::int64_t number) noexcept
    : size_(static_cast<std::size_t>(
          std::to_chars(digits_.data(), digits_.data() + digits_.size(), number).ptr -
          digits_.data()))
{}

void append_command(std::string& out, std::initializer_list<std::string_view> arguments)
{
    append_command(out, std::span<const std::string_view>(arguments.begin(), arguments.size()));
}

void append_command(std::string& out, std::span<const std::string_view> arguments)
{
    assert(!arguments.empty());

    std::size_t room = most_of_a_header;
    for (const std::string_view argument : arguments)
        room += size_of_blob(argument);
    append(out, room, [&](char* at) {
        at = write_header(at, '*', arguments.size());
        for (const std::string_view argument : arguments)
            at = write_blob(at, argument);
        return at;
    });
}

std::string encoded_head(std::initializer_list<std::string_view> arguments, std::size_t more)
{
    std::string head;
    append_array_header(head, arguments.size() + more);
    for (const std::string_view argument : arguments)
        append_blob(head, argument);
    return head;
}

void append_command(
    std::string& out, const std::string& head, std::initializer_list<std::string_view> arguments)
{
    std::size_t room = head.size();
    for (const std::string_view argument : arguments)
        room += size_of_blob(argument);
    append(out, room, [&](char* at) {
        std::memcpy(at, head.data(), head.size());
        at += head.size();
        for (const std::string_view argument : arguments)
            at = write_blob(at, argument);
        return at;
    });
}

void append_array_header(std::string& out, std::size_t count)
{
    append(out, most_of_a_header, [count](char* at) { return write_header(at, '*', count); });
}

void append_blob(std::string& out, std::string_view argument)
{
    append(out, size_of_blob(argument), [argument](char* at) { return write_blob(at, argument); });
}

void append_blob(std::string& out, std::int64_t number)
{
    append_blob(out, decimal(number).view());
}

} // namespace holdfast::resp
