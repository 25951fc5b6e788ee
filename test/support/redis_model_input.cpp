// How the model of a Redis server splits its input into commands.
#include "support/redis_model_call.hpp"

#include <cctype>
#include <limits>
#include <utility>

namespace holdfast::test {

namespace {

constexpr std::size_t longest_line = 64 * 1024;
constexpr std::int64_t longest_bulk = 512 * 1024 * 1024;

// Limits before AUTH.
constexpr std::int64_t most_arguments = 10;
constexpr std::int64_t longest_argument = 16 * 1024;

bool blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool ends_word(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

char unescaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'b':
        return '\b';
    case 'a':
        return '\a';
    default:
        return c;
    }
}

} // namespace

redis_model::step redis_model::fail(std::string_view why)
{
    failure_.assign("ERR Protocol error: ").append(why);
    return step::error;
}

redis_model::step redis_model::take(session& from, std::string_view input, std::size_t& at)
{
    arguments_.clear();
    return input[at] == '*' ? take_array(from, input, at) : take_line(input, at);
}

// Finds the text between a type and the end of its line. Moves `at` behind that.
redis_model::step redis_model::header(
    std::string_view input, std::size_t& at, std::string_view& text)
{
    std::size_t end = at;
    while (end < input.size() && input[end] != '\r' && input[end] != '\0')
        ++end;
    if (end == input.size() ||
        input[end] == '\0') // the server takes a null as the end of the input
        return input.size() - at > longest_line ? step::error : step::incomplete;
    if (end + 2 > input.size())
        return step::incomplete;
    text = input.substr(at, end - at);
    at = end + 2; // the byte after the CR is not checked
    return step::command;
}

redis_model::step redis_model::take_array(session& from, std::string_view input, std::size_t& at)
{
    const bool unauthenticated = !password_.empty() && !from.authenticated;
    std::string_view text;
    if (const step s = header(input, at, text); s != step::command)
        return s == step::error ? fail("too big mbulk count string") : s;
    const auto count = integer_of(text.substr(1));
    if (!count || *count > std::numeric_limits<int>::max())
        return fail("invalid multibulk length");
    if (unauthenticated && *count > most_arguments)
        return fail("unauthenticated multibulk length");

    for (std::int64_t i = 0; i < *count; ++i) {
        if (at >= input.size())
            return step::incomplete;
        const std::size_t start = at;
        if (const step s = header(input, at, text); s != step::command)
            return s == step::error ? fail("too big bulk count string") : s;
        if (input[start] != '$') {
            const char c = input[start] == '\r' || input[start] == '\n' ? ' ' : input[start];
            return fail(std::string("expected '$', got '") + c + "'");
        }
        const auto size = integer_of(text.substr(1));
        if (!size || *size < 0 || *size > longest_bulk)
            return fail("invalid bulk length");
        if (unauthenticated && *size > longest_argument)
            return fail("unauthenticated bulk length");
        const auto length = static_cast<std::size_t>(*size);
        if (input.size() - at < length + 2) {
            from.needed = at + length + 2;
            return step::incomplete;
        }
        arguments_.push_back(input.substr(at, length));
        at += length + 2;
    }
    return arguments_.empty() ? step::nothing : step::command;
}

// An inline command, without RESP, as typed by a user.
redis_model::step redis_model::take_line(std::string_view input, std::size_t& at)
{
    std::size_t end = at;
    while (end < input.size() && input[end] != '\n' && input[end] != '\0')
        ++end;
    if (end == input.size() || input[end] == '\0')
        return input.size() - at > longest_line ? fail("too big inline request") : step::incomplete;
    std::string_view line = input.substr(at, end - at);
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    at = end + 1;
    if (!split(line))
        return fail("unbalanced quotes in request");
    return arguments_.empty() ? step::nothing : step::command;
}

// Splits a line into words, some of them quoted. Returns false if a quote is not closed properly.
bool redis_model::split(std::string_view line)
{
    unquoted_.clear();
    unquoted_.reserve(line.size()); // so that it is not reallocated
    std::size_t at = 0;
    for (;;) {
        while (at < line.size() && blank(line[at]))
            ++at;
        if (at == line.size())
            return true;
        const std::size_t start = unquoted_.size();
        char quote = '\0';
        for (bool more = true; more; ++at) {
            if (at == line.size()) {
                if (quote != '\0')
                    return false;
                break;
            }
            const char c = line[at];
            const char next = at + 1 < line.size() ? line[at + 1] : '\0';
            if (quote == '\0' && ends_word(c)) {
                more = false;
            } else if (quote == '\0' && (c == '"' || c == '\'')) {
                quote = c;
            } else if (quote != '\0' && c == quote) {
                if (next != '\0' && !blank(next))
                    return false;
                more = false;
            } else if (quote == '"' && c == '\\' && next == 'x' && at + 3 < line.size() &&
                       digit(line[at + 2]) >= 0 && digit(line[at + 3]) >= 0) {
                unquoted_ += static_cast<char>(digit(line[at + 2]) * 16 + digit(line[at + 3]));
                at += 3;
            } else if (quote == '"' && c == '\\' && next != '\0') {
                unquoted_ += unescaped(next);
                ++at;
            } else if (quote == '\'' && c == '\\' && next == '\'') {
                unquoted_ += '\'';
                ++at;
            } else {
                unquoted_ += c;
            }
        }
        arguments_.push_back(std::string_view(unquoted_).substr(start));
    }
}

} // namespace holdfast::test
