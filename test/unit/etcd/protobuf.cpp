#include "etcd/wire/protobuf.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <string_view>

using namespace std::string_view_literals;
using holdfast::etcd_store::wire::proto_reader;
using holdfast::etcd_store::wire::proto_writer;

namespace {

BOOST_AUTO_TEST_SUITE(etcd_protobuf)

BOOST_AUTO_TEST_CASE(writes_the_documented_bytes)
{
    proto_writer w;
    w.number(1, 150); // the example of the documentation of protobuf
    BOOST_TEST(w.encoded() == "\x08\x96\x01"sv);
    w.text(2, "testing");
    BOOST_TEST(w.encoded() == "\x08\x96\x01\x12\x07testing"sv);
}

BOOST_AUTO_TEST_CASE(leaves_out_defaults_except_on_request)
{
    proto_writer w;
    w.number(1, 0);
    w.text(2, "");
    BOOST_TEST(w.encoded().empty());
    w.explicit_number(1, 0);
    w.message(2, "");
    BOOST_TEST(w.encoded() == "\x08\x00\x12\x00"sv);
}

BOOST_AUTO_TEST_CASE(reads_what_it_writes)
{
    proto_writer w;
    w.number(1, UINT64_MAX);
    w.text(64, "x");
    proto_reader r(w.encoded());
    BOOST_TEST(r.next());
    BOOST_TEST(r.field() == 1u);
    BOOST_TEST(r.number() == UINT64_MAX);
    BOOST_TEST(r.integer() == -1);
    BOOST_TEST(r.next());
    BOOST_TEST(r.field() == 64u);
    BOOST_TEST(r.bytes() == "x");
    BOOST_TEST(!r.next());
    BOOST_TEST(r.good());
}

BOOST_AUTO_TEST_CASE(skips_fields_of_all_types)
{
    proto_reader r("\x09"
                   "12345678\x15"
                   "1234\x1a\x01z\x20\x07"sv);
    std::uint32_t last = 0;
    while (r.next())
        last = r.field();
    BOOST_TEST(r.good());
    BOOST_TEST(last == 4u);
    BOOST_TEST(r.number() == 7u);
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_message)
{
    for (const std::string_view bad : {
             "\x80"sv,                                             // a number that does not end
             "\x08"sv,                                             // a field without a value
             "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"sv,     // more than 64 bits
             "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, // more than 10 bytes
             "\x12\x05"
             "1234"sv,                                         // a text that is cut off
             "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, // as long as can be
             "\x09"
             "1234567"sv,                      // 8 bytes that are cut off
             "\x0b\x0c"sv,                     // a group
             "\x00\x01"sv,                     // field 0
             "\xf8\xff\xff\xff\xff\x01\x01"sv, // a field number that is too large
         }) {
        proto_reader r(bad);
        while (r.next()) {
        }
        BOOST_TEST(!r.good(), "accepted " << bad.size() << " bytes");
        BOOST_TEST(!r.next());
    }
}

BOOST_AUTO_TEST_CASE(a_value_of_another_type_is_malformed)
{
    proto_reader number("\x08\x01"sv);
    BOOST_TEST(number.next());
    BOOST_TEST(number.bytes().empty());
    BOOST_TEST(!number.good());
    proto_reader text("\x0a\x01x"sv);
    BOOST_TEST(text.next());
    BOOST_TEST(text.number() == 0u);
    BOOST_TEST(!text.good());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
