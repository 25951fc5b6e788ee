#include "resp/reader.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace holdfast::resp;
using namespace std::string_literals;
using namespace std::string_view_literals;
using status = reader::status;

namespace {

// A reply in writing, so that two replies can be compared, and printed when they differ.
std::string describe(std::span<const value> reply)
{
    static constexpr std::string_view names[] = {"simple", "blob", "integer", "real", "boolean",
        "null", "error", "array", "map", "set", "push"};
    std::string out;
    for (const value& v : reply) {
        out += out.empty() ? "" : " ";
        out += names[static_cast<std::size_t>(v.what)];
        if (v.what >= kind::array)
            out += ':' + std::to_string(v.count);
        else if (v.what == kind::integer || v.what == kind::boolean)
            out += ':' + std::to_string(v.integer);
        else if (v.what != kind::null)
            out += "'" + std::string(v.text) + "'";
    }
    return out;
}

// All that comes out of the reader as it stands, one line a reply, "broken" at the end if it is.
std::string drain(reader& r)
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

std::string read_whole(std::string_view bytes, reader_limits limits = {})
{
    reader r(limits);
    r.feed(bytes);
    return drain(r);
}

// The same in pieces that end at the given places. A broken reader says so once.
std::string read_pieces(
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

std::string read_byte_by_byte(std::string_view bytes, reader_limits limits = {})
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

constexpr example examples[] = {
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
    // Attributes are dropped, wherever they stand and whatever they contain.
    {"|1\r\n+ttl\r\n:3600\r\n$1\r\nx\r\n", "blob'x'"},
    {"|0\r\n:1\r\n", "integer:1"},
    {"*2\r\n:1\r\n|1\r\n+k\r\n*1\r\n+v\r\n:2\r\n", "array:2 integer:1 integer:2"},
    {"*1\r\n|1\r\n+k\r\n|1\r\n+deeper\r\n_\r\n+v\r\n|1\r\n+a\r\n+b\r\n*1\r\n:9\r\n",
        "array:1 array:1 integer:9"},
};

struct refusal {
    std::string_view reason;
    std::vector<std::string_view> inputs;
};

// What a reader must refuse however it arrives, and the reason that it gives.
const refusal refusals[] = {
    {"a value of unknown type", {"hello\r\n", "\r\n", "\0"sv, "\xff", "*1\r\nX"}},
    {"a line feed without a carriage return", {"+a\n"}},
    {"a carriage return without a line feed", {"+a\rb\r\n", "+a\r\r\n"}},
    {"an integer that is not one",
        {":\r\n", ":+5\r\n", ":-0\r\n", ":-\r\n", ":--1\r\n", ": 1\r\n", ":1 \r\n", ":01\r\n",
            ":0x1\r\n", ":9223372036854775808\r\n", ":-9223372036854775809\r\n"}},
    {"a null with content", {"_x\r\n"}},
    {"a boolean that is neither true nor false", {"#\r\n", "#true\r\n"}},
    {"a real number that is not one",
        {",\r\n", ",1.\r\n", ",.5\r\n", ",1e\r\n", ",1.2.3\r\n", ",infinity\r\n"}},
    {"a big number that is not one", {"(\r\n", "(-\r\n", "(12a\r\n"}},
    {"a length that is not a number",
        {"$\r\n", "!\r\n", "=\r\n", "*\r\n", "$?\r\n", "*?\r\n",
            "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n$?\r\n", "$+1\r\n", "$-0\r\n", "$ 1\r\n", "$01\r\n",
            "$1x\r\n", "$18446744073709551615\r\n", "$18446744073709551614\r\n",
            "*18446744073709551617\r\n"}},
    {"a negative length",
        {"$-2\r\n", "!-1\r\n", "=-1\r\n", "%-1\r\n", "~-1\r\n", ">-1\r\n", "|-1\r\n", "*-2\r\n"}},
    {"a string that is too long",
        {"$1073741824\r\n", "$9223372036854775807\r\n", "!9223372036854775806\r\n"}},
    {"a reply with too many elements",
        {"*9999999999\r\n", "*4294967297\r\n", "%9223372036854775807\r\n",
            "%4611686018427387904\r\n", "|9223372036854775807\r\n"}},
    {"a string that does not end where it should",
        {"$1\r\nabc\r\n", "$3\r\nab\r\n+OK\r\n", "$3\r\nabc\rx", "$3\r\nabc\n"}},
    {"a verbatim string without its format", {"=3\r\ntxt\r\n", "=5\r\ntxtab\r\n"}},
    {"a push inside a reply", {"*1\r\n>1\r\n+x\r\n", "*1\r\n>0\r\n", "|1\r\n+k\r\n>1\r\n+x\r\n"}},
};

std::string repeat(std::string_view part, std::size_t times)
{
    std::string out;
    for (std::size_t i = 0; i < times; ++i)
        out += part;
    return out;
}

// `before`, filled up with x to `size` bytes, and a line end.
std::string line_of(std::string_view before, std::size_t size)
{
    std::string out(before);
    out.resize(size, 'x');
    return out + "\r\n";
}

std::string blob_of(std::size_t size)
{
    return '$' + std::to_string(size) + "\r\n" + std::string(size, 'x') + "\r\n";
}

// Whether it is read as one reply, which must not depend on how it arrives.
bool accepts(std::string_view bytes, reader_limits limits)
{
    const std::string whole = read_whole(bytes, limits);
    BOOST_TEST(read_byte_by_byte(bytes, limits) == whole);
    return !whole.empty() && whole.find("broken") == std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(resp_reader)

// Every form of reply means the same whether it comes whole, byte by byte, or in any two pieces.
BOOST_AUTO_TEST_CASE(replies_do_not_depend_on_how_they_arrive)
{
    for (const auto& [bytes, means] : examples) {
        const std::string expected = std::string(means) + '\n';
        BOOST_TEST_CONTEXT("reply " << bytes)
        {
            BOOST_TEST(read_whole(bytes) == expected);
            BOOST_TEST(read_byte_by_byte(bytes) == expected);
            for (std::size_t cut = 0; cut <= bytes.size(); ++cut)
                BOOST_TEST(read_pieces(bytes, {cut}) == expected);
        }
    }
}

// Whatever is not the protocol is refused with the same reason however it arrives, and without
// waiting for more: "$" with a missing number, streamed strings, lengths that overflow, and so on.
BOOST_AUTO_TEST_CASE(hostile_replies_are_refused)
{
    for (const auto& [reason, inputs] : refusals) {
        const std::string expected = "broken: " + std::string(reason) + '\n';
        for (const std::string_view bytes : inputs) {
            BOOST_TEST_CONTEXT("reply " << bytes)
            {
                BOOST_TEST(read_whole(bytes) == expected);
                BOOST_TEST(read_whole(std::string(bytes) + "+OK\r\n") == expected);
                BOOST_TEST(read_byte_by_byte(bytes) == expected);
                for (std::size_t cut = 0; cut <= bytes.size(); ++cut)
                    BOOST_TEST(read_pieces(bytes, {cut}) == expected);
            }
        }
    }
}

// Half a reply is never a reply and never an error: every example, cut short at every place.
BOOST_AUTO_TEST_CASE(truncated_replies_wait_for_the_rest)
{
    for (const auto& [bytes, means] : examples) {
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            reader r;
            r.feed(bytes.substr(0, size));
            BOOST_TEST((r.next() == status::need_more), "reply " << bytes << " cut at " << size);
            BOOST_TEST(r.reply().empty());
        }
    }
}

// Replies that come together are told apart, also when the last is not whole yet.
BOOST_AUTO_TEST_CASE(several_replies_at_once)
{
    std::string bytes, expected;
    for (const example& one : examples) {
        bytes += one.bytes;
        expected += std::string(one.means) + '\n';
    }
    BOOST_TEST(read_whole(bytes) == expected);
    BOOST_TEST(read_byte_by_byte(bytes) == expected);

    reader r;
    r.feed("+OK\r\n:1\r\n*2\r\n:2\r\n");
    BOOST_TEST(drain(r) == "simple'OK'\ninteger:1\n");
    r.feed("_\r\n$-1\r\n");
    BOOST_TEST(drain(r) == "array:2 integer:2 null\nnull\n");
}

// Each limit allows exactly what it says and refuses one more, whole and byte by byte.
BOOST_AUTO_TEST_CASE(limits_are_exact)
{
    const reader_limits small{.line = 16, .blob = 20, .elements = 7, .depth = 3, .reply = 48};

    BOOST_TEST(accepts(line_of("+", 16), small));
    BOOST_TEST(!accepts(line_of("+", 17), small));
    BOOST_TEST(accepts(blob_of(20), small));
    BOOST_TEST(!accepts(blob_of(21), small));

    BOOST_TEST(accepts("*6\r\n" + repeat("_\r\n", 6), small));
    BOOST_TEST(!accepts("*7\r\n" + repeat("_\r\n", 7), small));
    BOOST_TEST(accepts("%3\r\n" + repeat("_\r\n", 6), small));
    BOOST_TEST(!accepts("%4\r\n" + repeat("_\r\n", 8), small));
    BOOST_TEST(accepts("*2\r\n*2\r\n_\r\n_\r\n*2\r\n_\r\n_\r\n", small));
    BOOST_TEST(!accepts("*2\r\n*2\r\n_\r\n_\r\n*3\r\n_\r\n_\r\n_\r\n", small));

    BOOST_TEST(accepts("*1\r\n*1\r\n*1\r\n_\r\n", small));
    BOOST_TEST(accepts("*1\r\n*1\r\n*0\r\n", small));
    BOOST_TEST(!accepts("*1\r\n*1\r\n*1\r\n*0\r\n", small));
    BOOST_TEST(!accepts("*1\r\n*1\r\n*1\r\n*1\r\n_\r\n", small));

    // 48 bytes: a header of 4, three strings of 10 each, and 14 left.
    const std::string strings = "*4\r\n" + repeat("$4\r\nxxxx\r\n", 3);
    BOOST_TEST(accepts(strings + line_of("+", 12), small));
    BOOST_TEST(!accepts(strings + line_of("+", 13), small));
    BOOST_TEST(accepts(strings + "$8\r\nxxxxxxxx\r\n", small));
    BOOST_TEST(!accepts(strings + "$9\r\nxxxxxxxxx\r\n", small));
}

// The limits hold for the shortest replies too, which are read by a path of their own.
BOOST_AUTO_TEST_CASE(limits_below_the_common_replies)
{
    for (const std::string_view common : {"+OK\r\n"sv, ":1\r\n"sv, "$-1\r\n"sv, "_\r\n"sv}) {
        const std::size_t size = common.size();
        BOOST_TEST(accepts(common, {.line = size - 2}));
        BOOST_TEST(!accepts(common, {.line = size - 3}));
        BOOST_TEST(accepts(common, {.reply = size}));
        BOOST_TEST(!accepts(common, {.reply = size - 1}));
    }
    BOOST_TEST(read_whole("+OK\r\n", {.reply = 0}) == "broken: a reply that is too long\n");
}

// Attributes cost what other values cost, although they are dropped: no way round the limits.
BOOST_AUTO_TEST_CASE(attributes_count_against_the_limits)
{
    const reader_limits small{.line = 16, .blob = 20, .elements = 4, .depth = 2, .reply = 64};

    BOOST_TEST(accepts("|1\r\n_\r\n_\r\n_\r\n", small)); // the attribute, two in it, the value
    BOOST_TEST(!accepts("|1\r\n_\r\n_\r\n*1\r\n_\r\n", small));
    BOOST_TEST(accepts("|0\r\n|0\r\n|0\r\n_\r\n", small));
    BOOST_TEST(!accepts("|0\r\n|0\r\n|0\r\n|0\r\n_\r\n", small));
    BOOST_TEST(!accepts("*1\r\n|1\r\n*0\r\n_\r\n_\r\n", small)); // depth 3

    const reader_limits many{.elements = 1'000'000, .reply = 300};
    BOOST_TEST(accepts(repeat("|0\r\n", 74) + ":1\r\n", many));
    BOOST_TEST(!accepts(repeat("|0\r\n", 75) + ":1\r\n", many));
}

// With the limits that we ship, nesting for ever and pushing for ever both end.
BOOST_AUTO_TEST_CASE(default_limits_bound_hostile_replies)
{
    BOOST_TEST(read_whole(repeat("*1\r\n", 100'000)) == "broken: values nested too deeply\n");
    BOOST_TEST(read_whole(repeat("|1\r\n", 100'000)) == "broken: values nested too deeply\n");
    BOOST_TEST(accepts(repeat("*1\r\n", 8) + "_\r\n", {}));
    BOOST_TEST(!accepts(repeat("*1\r\n", 9) + "_\r\n", {}));
    BOOST_TEST(
        read_whole("+" + std::string(1'000'000, 'x')) == "broken: a line that is too long\n");
    BOOST_TEST(read_whole("*100\r\n" + repeat(blob_of(60'000), 5)) ==
               "broken: a reply that is too long\n");
}

// A declared size costs nothing: the room on offer stays that of the first allocation.
BOOST_AUTO_TEST_CASE(declared_sizes_allocate_nothing)
{
    reader r;
    r.feed("*1023\r\n$65536\r\n");
    BOOST_TEST((r.next() == status::need_more));
    BOOST_TEST(r.prepare(1).size() <= 4096);
}

// The text of a reply is right although the buffer moved and grew many times while it came.
BOOST_AUTO_TEST_CASE(text_survives_the_growth_of_the_buffer)
{
    std::string bytes = "*40\r\n", expected = "array:40";
    for (std::size_t i = 0; i < 40; ++i) {
        const std::string text(i * 150, static_cast<char>('a' + i % 26));
        bytes += '$' + std::to_string(text.size()) + "\r\n" + text + "\r\n";
        expected += " blob'" + text + "'";
    }
    bytes = "+earlier\r\n" + bytes + "*2\r\n+last\r\n$-1\r\n";
    expected = "simple'earlier'\n" + expected + "\narray:2 simple'last' null\n";

    for (const std::size_t piece : {1U, 7U, 100U, 4096U, 100'000U}) {
        std::vector<std::size_t> cuts;
        for (std::size_t at = piece; at < bytes.size(); at += piece)
            cuts.push_back(at);
        BOOST_TEST((read_pieces(bytes, cuts) == expected), "pieces of " << piece);
    }
}

// Work is linear: of the longest line and the longest string that come one byte at a time, each
// byte is looked at or moved a small number of times, where rescanning would take 32,768.
BOOST_AUTO_TEST_CASE(a_trickle_costs_linear_work)
{
    for (const std::string& bytes : {line_of("+", 65'536), blob_of(65'536),
             "*4\r\n" + repeat(blob_of(65'000), 4), "*1000\r\n" + repeat("$3\r\nabc\r\n", 1000)}) {
        reader r;
        for (const char byte : bytes) {
            BOOST_REQUIRE((r.next() == status::need_more));
            r.feed({&byte, 1});
        }
        BOOST_TEST((r.next() == status::reply));
        BOOST_TEST(r.bytes_handled() <= 3 * bytes.size());
    }
}

// A long stream is read in the same memory, and moves hardly more bytes than it has.
BOOST_AUTO_TEST_CASE(a_long_stream_needs_no_more_memory)
{
    const std::string bytes = repeat("+OK\r\n$5\r\nhello\r\n*2\r\n:1\r\n_\r\n", 20'000);
    reader r;
    std::size_t replies = 0, moved_values = 0;
    const value* values = nullptr;
    for (std::size_t at = 0; at < bytes.size(); at += 1000) {
        BOOST_REQUIRE(r.prepare(1000).size() <= 4096);
        r.feed(std::string_view(bytes).substr(at, 1000));
        while (r.next() == status::reply) {
            ++replies;
            moved_values += replies > 3 && values != r.reply().data();
            values = r.reply().data();
        }
    }
    BOOST_TEST(replies == 60'000u);
    BOOST_TEST(moved_values == 0u); // once all three forms have been seen, nothing is allocated
    BOOST_TEST(r.bytes_handled() <= 2 * bytes.size());
}

// Who takes one reply from a long backlog before each read does not pay for moving the backlog.
BOOST_AUTO_TEST_CASE(a_backlog_is_not_moved_for_every_reply)
{
    constexpr std::size_t replies = 20'000;
    reader r;
    r.feed(repeat("+yes\r\n", replies));
    for (std::size_t i = 0; i < replies; ++i) {
        BOOST_REQUIRE((r.next() == status::reply));
        r.feed("+yes\r\n");
    }
    BOOST_TEST(r.bytes_handled() <= 3 * 2 * replies * 6);
}

// Bytes may also be read straight into the room, which is at least as large as asked for.
BOOST_AUTO_TEST_CASE(prepare_and_commit)
{
    reader r;
    for (const std::size_t size : {0U, 1U, 5U, 4096U, 100'000U})
        BOOST_TEST(r.prepare(size).size() >= size);

    const std::span<char> room = r.prepare(8);
    std::ranges::copy("+OK\r\n:1\r"sv, room.begin());
    r.commit(8);
    BOOST_TEST(drain(r) == "simple'OK'\n");
    r.prepare(1)[0] = '\n';
    r.commit(1);
    BOOST_TEST(drain(r) == "integer:1\n");
    r.commit(0);
    BOOST_TEST(drain(r).empty());

    // Once all is read, the whole buffer is on offer again.
    const std::size_t all = r.prepare(0).size();
    r.feed("+OK\r\n");
    BOOST_TEST(r.prepare(0).size() == all - 5);
    drain(r);
    BOOST_TEST(r.prepare(0).size() == all);
}

// Once broken, a reader stays broken, keeps no bytes, and gives its reason; reset() makes it new.
BOOST_AUTO_TEST_CASE(broken_until_reset)
{
    reader r;
    r.feed("*2\r\n+half\r\n$-2\r\n+OK\r\n");
    BOOST_TEST((r.next() == status::broken));
    BOOST_TEST(r.reply().empty());
    BOOST_TEST(r.problem() == "a negative length");

    for (int i = 0; i < 1000; ++i)
        r.feed(std::string(1000, '+'));
    BOOST_TEST((r.next() == status::broken));
    BOOST_TEST(r.prepare(1).size() <= 4096);

    r.reset();
    BOOST_TEST(r.problem().empty());
    BOOST_TEST((r.next() == status::need_more));
    r.feed("*1\r\n:7\r\n");
    BOOST_TEST(drain(r) == "array:1 integer:7\n");
}

// reset() in the midst of anything leaves nothing behind.
BOOST_AUTO_TEST_CASE(reset_forgets_half_a_reply)
{
    for (const example& one : examples) {
        for (std::size_t size = 0; size <= one.bytes.size(); ++size) {
            reader r;
            r.feed(one.bytes.substr(0, size));
            r.next();
            r.reset();
            BOOST_TEST(r.reply().empty());
            r.feed(one.bytes);
            BOOST_TEST(drain(r) == std::string(one.means) + '\n');
        }
    }
}

// A quarter of a million damaged replies, from fixed seeds: nothing crashes, reading comes to an
// end, and what is read does not depend on the pieces. Run under sanitizers, this is a fuzz test.
BOOST_AUTO_TEST_CASE(damaged_replies_do_no_harm)
{
    constexpr std::string_view alphabet = "+-:$*_#,(!=%~>|0123456789?\r\n tfe.\0\xff"sv;
    const reader_limits small{.line = 40, .blob = 30, .elements = 12, .depth = 3, .reply = 90};
    std::mt19937 random(20'240'229);
    const auto below = [&](std::size_t n) {
        return static_cast<std::size_t>(random()) % n;
    };

    std::size_t broken = 0, replied = 0;
    for (int round = 0; round < 250'000; ++round) {
        std::string bytes;
        for (std::size_t parts = 1 + below(3); parts > 0; --parts)
            bytes += examples[below(std::size(examples))].bytes;
        for (std::size_t changes = below(4); changes > 0; --changes) {
            const std::size_t at = below(bytes.size());
            switch (below(3)) {
            case 0:
                bytes[at] = alphabet[below(alphabet.size())];
                break;
            case 1:
                bytes.insert(at, 1, alphabet[below(alphabet.size())]);
                break;
            default:
                bytes.erase(at, bytes.size() > 1 ? 1 : 0);
            }
        }
        std::vector<std::size_t> cuts = {below(bytes.size()), below(bytes.size())};
        std::ranges::sort(cuts);

        const reader_limits limits = round % 2 == 0 ? small : reader_limits{};
        const std::string whole = read_whole(bytes, limits);
        if (read_pieces(bytes, cuts, limits) != whole)
            BOOST_FAIL("round " << round << ": pieces differ from " << whole);
        if (round % 8 < 2 && read_byte_by_byte(bytes, limits) != whole)
            BOOST_FAIL("round " << round << ": bytes differ from " << whole);
        ++(whole.find("broken") == std::string::npos ? replied : broken);
    }
    // Otherwise the damage would be too great, or too small, to prove anything.
    BOOST_TEST(broken > 50'000u);
    BOOST_TEST(replied > 50'000u);
}

// The same for bytes that were never a reply.
BOOST_AUTO_TEST_CASE(random_bytes_do_no_harm)
{
    constexpr std::string_view alphabet = "+-:$*_#,(!=%~>|0123\r\n\r\n\r\n\r\n"sv;
    std::mt19937 random(7);
    for (int round = 0; round < 100'000; ++round) {
        std::string bytes(random() % 40, '\0');
        for (char& byte : bytes)
            byte = round % 4 == 0 ? static_cast<char>(random() % 256)
                                  : alphabet[random() % alphabet.size()];
        if (read_byte_by_byte(bytes) != read_whole(bytes))
            BOOST_FAIL("round " << round << ": bytes differ from " << read_whole(bytes));
    }
}

BOOST_AUTO_TEST_SUITE_END()
