// Replies of a hostile or broken node.
#include "unit/resp/reading.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

struct refusal {
    std::string_view reason;
    std::vector<std::string_view> inputs;
};

// Inputs that the reader must refuse however they arrive, and the reasons that it gives.
const refusal refusals[] = {
    {"a value of unknown type", {"hello\r\n", "\r\n", "\0"sv, "\xff", "*1\r\nX"}},
    {"a line feed without a carriage return", {"+a\n"}},
    {"a carriage return without a line feed", {"+a\rb\r\n", "+a\r\r\n"}},
    {"a malformed integer",
        {":\r\n", ":+5\r\n", ":-0\r\n", ":-\r\n", ":--1\r\n", ": 1\r\n", ":1 \r\n", ":01\r\n",
            ":0x1\r\n", ":9223372036854775808\r\n", ":-9223372036854775809\r\n"}},
    {"a null with content", {"_x\r\n"}},
    {"a boolean that is neither true nor false", {"#\r\n", "#true\r\n"}},
    {"a malformed real number",
        {",\r\n", ",1.\r\n", ",.5\r\n", ",1e\r\n", ",1.2.3\r\n", ",infinity\r\n"}},
    {"a malformed big number", {"(\r\n", "(-\r\n", "(12a\r\n"}},
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
    {"a string without a line end",
        {"$1\r\nabc\r\n", "$3\r\nab\r\n+OK\r\n", "$3\r\nabc\rx", "$3\r\nabc\n"}},
    {"a verbatim string without its format", {"=3\r\ntxt\r\n", "=5\r\ntxtab\r\n"}},
    {"a push inside a reply", {"*1\r\n>1\r\n+x\r\n", "*1\r\n>0\r\n", "|1\r\n+k\r\n>1\r\n+x\r\n"}},
};

} // namespace

BOOST_AUTO_TEST_SUITE(resp_reader_hostile)

// Input that violates the protocol is refused, for the same reason however it arrives, and without
// waiting for more input: "$" without a number, streamed strings, lengths that overflow, and so on.
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

// An incomplete reply is neither a reply nor an error: every example, truncated at every place.
BOOST_AUTO_TEST_CASE(truncated_replies_need_more_input)
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

// The default limits end endless nesting and endless replies.
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

// A declared size allocates nothing: the room offered is still that of the first allocation.
BOOST_AUTO_TEST_CASE(declared_sizes_allocate_nothing)
{
    reader r;
    r.feed("*1023\r\n$65536\r\n");
    BOOST_TEST((r.next() == status::need_more));
    BOOST_TEST(r.prepare(1).size() <= 4096);
}

// 250,000 damaged replies, from fixed seeds: no crash, reading ends, and the result does not depend
// on the pieces. Under sanitizers this is a fuzz test.
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
    // Otherwise there would be too much or too little damage for a meaningful test.
    BOOST_TEST(broken > 50'000u);
    BOOST_TEST(replied > 50'000u);
}

// The same for random bytes.
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
