#include "resp/reader.hpp"

#include "resp/number.hpp"

#include <algorithm>
#include <array>

namespace holdfast::resp {

namespace {

constexpr auto known_types = [] {
    std::array<bool, 256> known{};
    for (const char c : std::string_view("+-:$*_#,(!=%~>|"))
        known[static_cast<unsigned char>(c)] = true;
    return known;
}();

} // namespace

reader::reader(reader_limits limits) : limits_(limits), builder_(limits.elements, limits.depth) {}

std::span<char> reader::prepare(std::size_t at_least)
{
    if (whole_)
        start_reply();
    return bytes_.prepare(at_least, builder_);
}

void reader::commit(std::size_t n)
{
    if (problem_.empty())
        bytes_.commit(n);
}

void reader::feed(std::string_view bytes)
{
    std::copy(bytes.begin(), bytes.end(), prepare(bytes.size()).begin());
    commit(bytes.size());
}

reader::status reader::next()
{
    if (!problem_.empty())
        return status::broken;
    if (whole_)
        start_reply();
    if (bytes_.taken() == 0 && read_common_reply())
        return deliver();

    while (bytes_.has_rest()) {
        switch (blob_type_ == 0 ? read_line() : read_blob()) {
        case step::proceed:
            break;
        case step::wait:
            return status::need_more;
        case step::broken:
            return status::broken;
        case step::whole:
            return deliver();
        }
    }
    return status::need_more;
}

reader::status reader::deliver()
{
    bytes_.begin_reply();
    whole_ = true;
    return status::reply;
}

// A fast path for the most frequent replies: +OK, an integer of one digit, and both nulls. Accepts
// only replies that read_line() would accept, and leaves all others to it.
bool reader::read_common_reply()
{
    const std::string_view bytes = bytes_.rest();
    const auto take = [&](std::size_t size, const value& v) {
        bytes_.take(size);
        return builder_.add(v);
    };
    if (bytes.size() < 3 || limits_.line < 3 || limits_.reply < 5)
        return false;
    if (bytes.starts_with("+OK\r\n"))
        return take(5, {value_kind::simple_string, 0, 0, bytes.substr(1, 2)});
    if (bytes[0] == ':' && is_digit(bytes[1]) && bytes.substr(2).starts_with("\r\n"))
        return take(4, {value_kind::integer, 0, bytes[1] - '0', {}});
    if (bytes.starts_with("$-1\r\n"))
        return take(5, {});
    if (bytes.starts_with("_\r\n"))
        return take(3, {});
    return false;
}

void reader::reset()
{
    start_reply();
    blob_type_ = 0;
    bytes_.clear();
    problem_ = {};
}

void reader::start_reply()
{
    builder_.clear();
    whole_ = false;
}

reader::step reader::fail(std::string_view why)
{
    reset();
    problem_ = why;
    return step::broken;
}

reader::step reader::read_line()
{
    const char type = bytes_.rest().front();
    if (!known_types[static_cast<unsigned char>(type)])
        return fail("a value of unknown type");

    const std::size_t left = limits_.reply - bytes_.taken();
    const std::size_t longest = std::min(limits_.line, left < 2 ? 0 : left - 2);
    std::string_view line;
    switch (bytes_.take_line(longest, line)) {
    case stream_buffer::line::whole:
        break;
    case stream_buffer::line::incomplete:
        return step::wait;
    case stream_buffer::line::too_long:
        return fail(
            longest == limits_.line ? "a line that is too long" : "a reply that is too long");
    case stream_buffer::line::without_return:
        return fail("a line feed without a carriage return");
    case stream_buffer::line::without_feed:
        return fail("a carriage return without a line feed");
    }
    return accept_line(type, line.substr(1));
}

reader::step reader::accept_line(char type, std::string_view line)
{
    std::int64_t number = 0;
    switch (type) {
    case '+':
        return add(value_kind::simple_string, line);
    case '-':
        return add(value_kind::error, line);
    case ':':
        if (!parse_integer(line, number))
            return fail("a malformed integer");
        return add(value_kind::integer, {}, number);
    case '_':
        return line.empty() ? add(value_kind::null) : fail("a null with content");
    case '#':
        if (line != "t" && line != "f")
            return fail("a boolean that is neither true nor false");
        return add(value_kind::boolean, {}, line == "t");
    case ',':
        return is_real(line) ? add(value_kind::real, line) : fail("a malformed real number");
    case '(':
        if (!is_big_number(line))
            return fail("a malformed big number");
        return add(value_kind::blob_string, line);
    default:
        return accept_length(type, line);
    }
}

reader::step reader::accept_length(char type, std::string_view line)
{
    std::int64_t length = 0;
    if (!parse_integer(line, length))
        return fail("a length that is not a number");
    if (length == -1 && (type == '$' || type == '*'))
        return add(value_kind::null);
    if (length < 0)
        return fail("a negative length");
    if (type == '$' || type == '!' || type == '=')
        return begin_blob(type, static_cast<std::uint64_t>(length));
    return begin_aggregate(type, static_cast<std::uint64_t>(length));
}

reader::step reader::begin_blob(char type, std::uint64_t size)
{
    if (size > limits_.blob)
        return fail("a string that is too long");
    const std::size_t left = limits_.reply - bytes_.taken();
    if (left < 2 || size > left - 2)
        return fail("a reply that is too long");
    blob_size_ = static_cast<std::size_t>(size);
    blob_type_ = type;
    return step::proceed;
}

reader::step reader::read_blob()
{
    const std::string_view rest = bytes_.rest();
    if (rest.size() > blob_size_ && rest[blob_size_] != '\r')
        return fail("a string without a line end");
    if (rest.size() < blob_size_ + 2)
        return step::wait;
    if (rest[blob_size_ + 1] != '\n')
        return fail("a string without a line end");

    std::string_view text = rest.substr(0, blob_size_);
    if (blob_type_ == '=') {
        if (text.size() < 4 || text[3] != ':')
            return fail("a verbatim string without its format");
        text.remove_prefix(4);
    }
    const value_kind kind = blob_type_ == '!' ? value_kind::error : value_kind::blob_string;
    bytes_.take(blob_size_ + 2);
    blob_type_ = 0;
    return add(kind, text);
}

reader::step reader::begin_aggregate(char type, std::uint64_t declared)
{
    if (const std::string_view why = builder_.begin(type, declared); !why.empty())
        return fail(why);
    return builder_.is_whole() ? step::whole : step::proceed;
}

reader::step reader::add(value_kind kind, std::string_view text, std::int64_t integer)
{
    return builder_.add({kind, 0, integer, text}) ? step::whole : step::proceed;
}

} // namespace holdfast::resp
