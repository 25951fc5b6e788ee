#include "etcd/wire/messages.hpp"
#include "etcd/wire/protobuf.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>

using namespace std::string_view_literals;
namespace wire = holdfast::etcd_store::wire;
using wire::proto_writer;
using branch = wire::transaction::branch;

namespace {

std::string header(std::uint64_t cluster, std::uint64_t revision)
{
    proto_writer w;
    w.number(1, cluster);
    w.number(2, 99); // the member
    w.number(3, revision);
    return w.encoded();
}

std::string key(std::string_view name, std::uint64_t created, std::uint64_t modified)
{
    proto_writer w;
    w.text(1, name);
    w.number(2, created);
    w.number(3, modified);
    w.number(4, 1); // the version
    w.text(5, "value");
    return w.encoded();
}

BOOST_AUTO_TEST_SUITE(etcd_messages)

BOOST_AUTO_TEST_CASE(a_range_of_keys_ends_behind_all_with_the_prefix)
{
    const wire::key_range keys = wire::keys_with("a/");
    BOOST_TEST(keys.first == "a/");
    BOOST_TEST(keys.end == "a0");
}

BOOST_AUTO_TEST_CASE(requests_have_the_fields_of_the_api)
{
    BOOST_TEST(wire::authenticate("u", "p") == "\x0a\x01u\x12\x01p"sv);
    BOOST_TEST(wire::lease_grant(10) == "\x08\x0a"sv);
    BOOST_TEST(wire::lease_revoke(300) == "\x08\xac\x02"sv);
    BOOST_TEST(wire::keep_alive(300) == "\x08\xac\x02"sv);
    BOOST_TEST(wire::delete_key("a/k") == "\x0a\x03"
                                          "a/k"sv);
    // key, range_end, limit, ascending by creation, keys only
    BOOST_TEST(wire::list_keys({"a", "b"}, 7) == "\x0a\x01"
                                                 "a\x12\x01"
                                                 "b\x18\x07\x28\x01\x30\x02\x40\x01"sv);
    // a watch with the filter NOPUT, which is an explicit 0
    BOOST_TEST(wire::watch_deletions({"a", "b"}, 5, 3) == "\x0a\x0d\x0a\x01"
                                                          "a\x12\x01"
                                                          "b\x18\x05\x2a\x01\x00\x38\x03"sv);
    BOOST_TEST(wire::cancel_watch(3) == "\x12\x02\x08\x03"sv);
}

BOOST_AUTO_TEST_CASE(a_transaction_has_conditions_and_two_lists)
{
    wire::transaction t;
    t.put(branch::none_exist, "k", "v", 5);
    t.remove(branch::otherwise, "k");
    t.if_none({"k", "l"});
    BOOST_TEST(t.encoded() ==
               // create revision of the range equals 0; EQUAL is a default and left out
               "\x0a\x0b\x10\x01\x1a\x01k\x28\x00\x82\x04\x01l"
               "\x12\x0a\x12\x08\x0a\x01k\x12\x01v\x18\x05"
               "\x1a\x05\x1a\x03\x0a\x01k"sv);
}

BOOST_AUTO_TEST_CASE(a_reply_to_a_transaction_is_read)
{
    proto_writer list, put, removal, txn;
    {
        proto_writer range;
        range.message(1, header(7, 41));
        range.message(2, key("a/1", 10, 12));
        range.message(2, key("a/2", 11, 11));
        range.number(3, 1);
        range.number(4, 200);
        list.message(1, range.encoded());
    }
    put.message(2, "");
    {
        proto_writer deleted;
        deleted.message(1, header(7, 41));
        deleted.number(2, 1);
        removal.message(3, deleted.encoded());
    }
    txn.message(1, header(7, 42));
    txn.number(2, 1);
    txn.message(3, put.encoded());
    txn.message(3, list.encoded());
    txn.message(3, removal.encoded());
    txn.number(99, 5); // of a newer server
    const auto reply = wire::read_txn(txn.encoded());
    BOOST_REQUIRE(reply.has_value());
    BOOST_TEST(reply->header.cluster == 7u);
    BOOST_TEST(reply->header.revision == 42);
    BOOST_TEST(reply->none_existed);
    BOOST_REQUIRE(reply->answers.size() == 3u);
    BOOST_REQUIRE(reply->answers[1].keys.size() == 2u);
    BOOST_TEST(reply->answers[1].keys[0].name == "a/1");
    BOOST_TEST(reply->answers[1].keys[0].created == 10);
    BOOST_TEST(reply->answers[1].more);
    BOOST_TEST(reply->answers[2].deleted == 1);

    for (std::size_t size = 1; size < txn.encoded().size(); ++size) {
        const auto cut = wire::read_txn(txn.encoded().substr(0, size));
        BOOST_TEST((!cut || cut->answers.size() <= 3u)); // never more than was there
    }
}

BOOST_AUTO_TEST_CASE(deletions_of_a_watch_are_read_and_puts_are_not)
{
    proto_writer removed, put, w;
    removed.number(1, 1);
    removed.message(2, key("a/1", 0, 50));
    put.message(2, key("a/2", 51, 51));
    w.message(1, header(7, 60));
    w.number(2, 4);
    w.message(11, removed.encoded());
    w.message(11, put.encoded());
    const auto reply = wire::read_watch(w.encoded());
    BOOST_REQUIRE(reply.has_value());
    BOOST_TEST(reply->watch == 4);
    BOOST_TEST(!reply->canceled);
    BOOST_REQUIRE(reply->deletions.size() == 1u);
    BOOST_TEST(reply->deletions[0].key == "a/1");
    BOOST_TEST(reply->deletions[0].revision == 50);

    proto_writer canceled;
    canceled.number(2, 4);
    canceled.number(4, 1);
    canceled.number(5, 77);
    canceled.text(6, "compacted");
    const auto ended = wire::read_watch(canceled.encoded());
    BOOST_REQUIRE(ended.has_value());
    BOOST_TEST(ended->canceled);
    BOOST_TEST(ended->compacted == 77);
    BOOST_TEST(ended->reason == "compacted");
}

BOOST_AUTO_TEST_CASE(leases_and_logins_are_read)
{
    proto_writer lease;
    lease.message(1, header(1, 2));
    lease.number(2, 1234);
    lease.number(3, 10);
    const auto granted = wire::read_lease(lease.encoded());
    BOOST_REQUIRE(granted.has_value());
    BOOST_TEST(granted->id == 1234);
    BOOST_TEST(granted->ttl_seconds == 10);

    proto_writer endless; // it must fit into a duration
    endless.number(3, INT64_MAX);
    BOOST_TEST(wire::read_lease(endless.encoded()).value().ttl_seconds == 1'000'000'000);

    proto_writer login;
    login.text(2, "secret");
    BOOST_TEST(wire::read_auth_token(login.encoded()).value_or("") == "secret");
    BOOST_TEST(!wire::read_auth_token("").has_value());
}

BOOST_AUTO_TEST_CASE(malformed_replies_are_refused_at_each_level)
{
    proto_writer bad_header, bad_key, bad_event;
    bad_header.message(1, "\x08"sv);
    bad_key.message(2, "\x0a\x05x"sv);
    bad_event.message(11, "\x12\x02\x0a\x05"sv);
    BOOST_TEST(!wire::read_txn(bad_header.encoded()).has_value());
    BOOST_TEST(!wire::read_list(bad_header.encoded()).has_value());
    BOOST_TEST(!wire::read_removal(bad_header.encoded()).has_value());
    BOOST_TEST(!wire::read_list(bad_key.encoded()).has_value());
    BOOST_TEST(!wire::read_watch(bad_event.encoded()).has_value());
    BOOST_TEST(!wire::read_lease("\x12\x01x"sv).has_value()); // the id is a text
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
