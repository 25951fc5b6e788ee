#pragma once

#include "resp/reader.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>
#include <vector>

// Shared by the tests of the reader: replies in text form, and ways of delivering them.
namespace holdfast::test {

using namespace holdfast::resp;
using namespace std::string_literals;
using namespace std::string_view_literals;
using status = reader::status;

// A reply as text, for comparing and printing.
inline std::string describe(std::span<const value> reply)
{
    static constexpr std::string_view names[] = {"simple", "blob", "integer", "real", "boolean",
        "null", "error", "array", "map", "set", "push"};
    std::string out;
    for (const value& v : reply) {
        out += out.empty() ? "" : " ";
        out += names[static_cast<std::size_t>(v.kind)];
        if (v.kind >= value_kind::array)
            out += ':' + std::to_string(v.count);
        else if (v.kind == value_kind::integer || v.kind == value_kind::boolean)
            out += ':' + std::to_string(v.integer);
        else if (v.kind != value_kind::null)
            out += "'" + std::string(v.text) + "'";
    }
    return out;
}

// All replies that the reader has now, one per line, with "broken" at the end if it is.
inline std::string drain(reader& r)
{
    std::string out;
    for (;;) {
        switch (r.next()) {
        case status::need_more:
            return out;
        case status::broken:
            return out + "broken: " + std::string(r.problem()) + '\n';
        case status::reply:
            out += describe(r.reply()) + '\n';
        }
    }
}

inline std::string read_whole(std::string_view bytes, reader_limits limits = {})
{
    reader r(limits);
    r.feed(bytes);
    return drain(r);
}

// The same in pieces that end at the given places. A broken reader is reported once.
inline std::string read_pieces(
    std::string_view bytes, const std::vector<std::size_t>& cuts, reader_limits limits = {})
{
    reader r(limits);
    std::string out;
    std::size_t from = 0;
    for (std::size_t i = 0; i <= cuts.size() && r.problem().empty(); ++i) {
        const std::size_t to = i < cuts.size() ? cuts[i] : bytes.size();
        r.feed(bytes.substr(from, to - from));
        out += drain(r);
        from = to;
    }
    return out;
}

inline std::string read_byte_by_byte(std::string_view bytes, reader_limits limits = {})
{
    std::vector<std::size_t> cuts;
    for (std::size_t i = 1; i < bytes.size(); ++i)
        cuts.push_back(i);
    return read_pieces(bytes, cuts, limits);
}

struct example {
    std::string_view bytes;
    std::string_view means;
};

inline constexpr example examples[] = {
    {"+OK\r\n", "simple'OK'"},
    {"+\r\n", "simple''"},
    {"+a\0b\r\n"sv, "simple'a\0b'"sv},
    {"-ERR no such thing\r\n", "error'ERR no such thing'"},
    {":1\r\n", "integer:1"},
    {":0\r\n", "integer:0"},
    {":-12\r\n", "integer:-12"},
    {":9223372036854775807\r\n", "integer:9223372036854775807"},
    {":-9223372036854775808\r\n", "integer:-9223372036854775808"},
    {"$-1\r\n", "null"},
    {"*-1\r\n", "null"},
    {"_\r\n", "null"},
    {"#t\r\n", "boolean:1"},
    {"#f\r\n", "boolean:0"},
    {",3.25\r\n", "real'3.25'"},
    {",-1e+20\r\n", "real'-1e+20'"},
    {",-inf\r\n", "real'-inf'"},
    {",nan\r\n", "real'nan'"},
    {"(-3492890328409238509324850943850943825024385\r\n",
        "blob'-3492890328409238509324850943850943825024385'"},
    {"$0\r\n\r\n", "blob''"},
    {"$5\r\nhello\r\n", "blob'hello'"},
    {"$6\r\na\r\nb\0c\r\n"sv, "blob'a\r\nb\0c'"sv},
    {"!9\r\nERR oh no\r\n", "error'ERR oh no'"},
    {"=7\r\ntxt:abc\r\n", "blob'abc'"},
    {"=4\r\nmkd:\r\n", "blob''"},
    {"*0\r\n", "array:0"},
    {"%0\r\n", "map:0"},
    {"~0\r\n", "set:0"},
    {">0\r\n", "push:0"},
    {"*2\r\n:1\r\n$1\r\nx\r\n", "array:2 integer:1 blob'x'"},
    {"*2\r\n*2\r\n*0\r\n_\r\n~1\r\n#t\r\n", "array:2 array:2 array:0 null set:1 boolean:1"},
    {"%2\r\n+a\r\n:1\r\n+b\r\n%1\r\n+c\r\n$-1\r\n",
        "map:4 simple'a' integer:1 simple'b' map:2 simple'c' null"},
    {">3\r\n+message\r\n+channel\r\n$2\r\nhi\r\n",
        "push:3 simple'message' simple'channel' blob'hi'"},
    {"*3\r\n*-1\r\n*1\r\n-ERR x\r\n,0.5\r\n", "array:3 null array:1 error'ERR x' real'0.5'"},
    // Attributes are dropped, wherever they occur and whatever they contain.
    {"|1\r\n+ttl\r\n:3600\r\n$1\r\nx\r\n", "blob'x'"},
    {"|0\r\n:1\r\n", "integer:1"},
    {"*2\r\n:1\r\n|1\r\n+k\r\n*1\r\n+v\r\n:2\r\n", "array:2 integer:1 integer:2"},
    {"*1\r\n|1\r\n+k\r\n|1\r\n+deeper\r\n_\r\n+v\r\n|1\r\n+a\r\n+b\r\n*1\r\n:9\r\n",
        "array:1 array:1 integer:9"},
};

inline std::string repeat(std::string_view part, std::size_t times)
{
    std::string out;
    for (std::size_t i = 0; i < times; ++i)
        out += part;
    return out;
}

// `before`, padded with x to `size` bytes, and a line end.
inline std::string line_of(std::string_view before, std::size_t size)
{
    std::string out(before);
    out.resize(size, 'x');
    return out + "\r\n";
}

inline std::string blob_of(std::size_t size)
{
    return '$' + std::to_string(size) + "\r\n" + std::string(size, 'x') + "\r\n";
}

// Whether the bytes are accepted. This must not depend on how they arrive.
inline bool accepts(std::string_view bytes, reader_limits limits)
{
    const std::string whole = read_whole(bytes, limits);
    BOOST_TEST(read_byte_by_byte(bytes, limits) == whole);
    return !whole.empty() && whole.find("broken") == std::string::npos;
}

} // namespace holdfast::test
