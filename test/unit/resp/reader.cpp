#include "unit/resp/reading.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace holdfast::test;

BOOST_AUTO_TEST_SUITE(resp_reader)

// Every form of reply is read alike, whether it arrives whole, byte by byte, or in any two pieces.
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

// Replies that arrive together are separated, even if the last one is incomplete.
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

// Each limit allows exactly its value and not one more, whole and byte by byte.
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

    // 48 bytes: a header of 4, three strings of 10 each, and 14 more.
    const std::string strings = "*4\r\n" + repeat("$4\r\nxxxx\r\n", 3);
    BOOST_TEST(accepts(strings + line_of("+", 12), small));
    BOOST_TEST(!accepts(strings + line_of("+", 13), small));
    BOOST_TEST(accepts(strings + "$8\r\nxxxxxxxx\r\n", small));
    BOOST_TEST(!accepts(strings + "$9\r\nxxxxxxxxx\r\n", small));
}

// The limits also hold for the shortest replies, which are read on a fast path.
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

// Attributes count like other values, although they are dropped, so they cannot bypass the limits.
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

// The text of a reply is right although the buffer was moved and enlarged while it arrived.
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

// Work is linear. The longest line and the longest string arrive one byte at a time. Each byte is
// read or moved a small number of times; rescanning would take 32,768.
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

// A long stream is read without new allocations, and few bytes are moved.
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

// Taking one reply from a long backlog before each read does not move the backlog each time.
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

// Bytes may also be read directly into the buffer. It offers at least as much room as requested.
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

    // When all replies are read, the whole buffer is available again.
    const std::size_t all = r.prepare(0).size();
    r.feed("+OK\r\n");
    BOOST_TEST(r.prepare(0).size() == all - 5);
    drain(r);
    BOOST_TEST(r.prepare(0).size() == all);
}

// A broken reader stays broken, keeps no bytes, and reports its reason, until reset().
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

// reset() discards all state, at any point.
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

BOOST_AUTO_TEST_SUITE_END()
