#include "zookeeper/wire/jute.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <string_view>

using namespace std::string_view_literals;
using namespace holdfast::zookeeper_store::wire;

namespace {

BOOST_AUTO_TEST_SUITE(zookeeper_jute)

BOOST_AUTO_TEST_CASE(writes_big_endian_numbers_and_texts_with_their_length)
{
    jute_writer out;
    out.int32(-2);
    out.int64(0x0102030405060708);
    out.boolean(true);
    out.text("ab");
    BOOST_TEST(out.encoded() == "\xff\xff\xff\xfe\1\2\3\4\5\6\7\x08\1\0\0\0\2ab"sv);
}

BOOST_AUTO_TEST_CASE(reads_what_it_writes)
{
    jute_writer out;
    out.int32(INT32_MIN);
    out.int64(INT64_MIN);
    out.boolean(false);
    out.text("");
    out.text("x\0y"sv);
    jute_reader in(out.encoded());
    BOOST_TEST(in.int32() == INT32_MIN);
    BOOST_TEST(in.int64() == INT64_MIN);
    BOOST_TEST(!in.boolean());
    BOOST_TEST(in.text().empty());
    BOOST_TEST(in.text() == "x\0y"sv);
    BOOST_TEST(in.good());
    BOOST_TEST(in.at_end());
}

BOOST_AUTO_TEST_CASE(takes_length_minus_one_for_nothing)
{
    jute_reader in("\xff\xff\xff\xff\xff\xff\xff\xff"sv);
    BOOST_TEST(in.text().empty());
    BOOST_TEST(in.count(4) == 0u);
    BOOST_TEST(in.good());
}

BOOST_AUTO_TEST_CASE(refuses_lengths_that_are_not_there)
{
    for (const std::string_view bad :
        {"\0\0\0\5abcd"sv, "\xff\xff\xff\xfe"sv, "\x7f\xff\xff\xff"sv, "\0\0\0"sv, ""sv}) {
        jute_reader in(bad);
        BOOST_TEST(in.text().empty());
        BOOST_TEST(!in.good());
        BOOST_TEST(in.int64() == 0);
    }
}

// A list is never made larger than what arrived.
BOOST_AUTO_TEST_CASE(refuses_more_elements_than_bytes)
{
    jute_reader in("\0\0\0\3"
                   "12345678"sv);
    BOOST_TEST(in.count(4) == 0u);
    BOOST_TEST(!in.good());
    jute_reader fits("\0\0\0\2"
                     "12345678"sv);
    BOOST_TEST(fits.count(4) == 2u);
}

BOOST_AUTO_TEST_CASE(takes_records_out_of_any_pieces)
{
    const std::string all = framed("one") + framed("") + framed("three");
    for (std::size_t piece = 1; piece <= all.size(); ++piece) {
        frame_reader in(16);
        std::string found;
        for (std::size_t at = 0; at < all.size(); at += piece) {
            in.append(std::string_view(all).substr(at, piece));
            while (const auto record = in.next())
                found += std::string(*record) + ";";
        }
        BOOST_TEST(found == "one;;three;");
        BOOST_TEST(!in.is_broken());
    }
}

BOOST_AUTO_TEST_CASE(stops_at_a_length_that_is_too_large_or_negative)
{
    for (const std::string_view bad : {"\0\0\0\x11"sv, "\x80\0\0\0"sv, "HTTP"sv}) {
        frame_reader in(16);
        in.append(framed("good"));
        in.append(bad);
        BOOST_TEST(in.next().has_value());
        BOOST_TEST(!in.next().has_value());
        BOOST_TEST(in.is_broken());
        in.append(framed("more"));
        BOOST_TEST(!in.next().has_value());
        in.clear();
        in.append(framed("new"));
        BOOST_TEST((in.next() == "new"sv));
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
