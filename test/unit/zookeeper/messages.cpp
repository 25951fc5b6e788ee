#include "zookeeper/wire/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace std::string_view_literals;
using namespace holdfast::zookeeper_store::wire;
namespace wire = holdfast::zookeeper_store::wire;

namespace {

const node_stat some_stat{.created = 0x100000002,
    .modified = 0x100000003,
    .created_ms = 1'700'000'000'000,
    .modified_ms = 1'700'000'000'001,
    .version = 1,
    .children_version = 2,
    .acl_version = 3,
    .owner = -5,
    .data_length = 6,
    .children = 7,
    .children_modified = 0x100000004};

std::vector<request> requests_of_all_kinds()
{
    const std::vector<wire::access> rights{{31, "world", "anyone"}, {5, "digest", "u:h"}};
    std::vector<request> all;
    for (const operation what :
        {operation::create, operation::create2, operation::create_container})
        all.push_back({.number = 7,
            .what = what,
            .path = "/a/b",
            .data = "value",
            .rights = rights,
            .mode = node_mode::ephemeral_sequential});
    for (const operation what :
        {operation::exists, operation::get_data, operation::get_children, operation::get_children2})
        all.push_back({.number = 8, .what = what, .path = "/a", .watch = true});
    all.push_back({.number = 9, .what = operation::remove, .path = "/a", .version = 4});
    all.push_back({.number = 10, .what = operation::set_data, .path = "/a", .data = "x"});
    all.push_back({.number = 11, .what = operation::sync, .path = "/a"});
    all.push_back({.number = number::ping, .what = operation::ping});
    all.push_back({.number = 12, .what = operation::close_session});
    all.push_back({.number = number::authentication,
        .what = operation::authenticate,
        .data = "user:secret",
        .scheme = "digest"});
    return all;
}

bool same(const request& a, const request& b)
{
    return a.number == b.number && a.what == b.what && a.path == b.path && a.data == b.data &&
           a.rights == b.rights && a.mode == b.mode && a.version == b.version &&
           a.watch == b.watch && a.scheme == b.scheme;
}

BOOST_AUTO_TEST_SUITE(zookeeper_messages)

// As the documentation of the record has it, and as a server has answered it.
BOOST_AUTO_TEST_CASE(writes_the_bytes_of_a_connect_request)
{
    const std::string bytes = encode(
        {.last_zxid = 1, .timeout_ms = 4000, .session = 2, .password = "pw", .read_only = false});
    BOOST_TEST(bytes == "\0\0\0\0"
                        "\0\0\0\0\0\0\0\1"
                        "\0\0\x0f\xa0"
                        "\0\0\0\0\0\0\0\2"
                        "\0\0\0\2pw"
                        "\0"sv);
}

BOOST_AUTO_TEST_CASE(writes_the_bytes_of_a_set_data)
{
    const std::string bytes =
        encode(request{.number = 3, .what = operation::set_data, .path = "/s", .data = ""});
    BOOST_TEST(bytes == "\0\0\0\3\0\0\0\5\0\0\0\2/s\0\0\0\0\xff\xff\xff\xff"sv);
}

BOOST_AUTO_TEST_CASE(connects_both_ways)
{
    const auto asked = read_connect_request(encode(connect_request{
        .last_zxid = 9, .timeout_ms = 5, .session = -3, .password = "p", .read_only = true}));
    BOOST_REQUIRE(asked);
    BOOST_TEST(asked->last_zxid == 9);
    BOOST_TEST(asked->session == -3);
    BOOST_TEST(asked->password == "p");
    BOOST_TEST(asked->read_only);
    const auto answered = read_connect_reply(
        encode(connect_reply{.timeout_ms = 40, .session = 77, .password = std::string(16, 'k')}));
    BOOST_REQUIRE(answered);
    BOOST_TEST(answered->timeout_ms == 40);
    BOOST_TEST(answered->session == 77);
    BOOST_TEST(answered->password.size() == 16u);
    BOOST_TEST(!answered->read_only);
}

BOOST_AUTO_TEST_CASE(reads_a_connect_reply_without_the_last_field)
{
    const std::string old = encode(connect_reply{.timeout_ms = 40, .session = 77});
    BOOST_TEST(read_connect_reply(old.substr(0, old.size() - 1)).has_value());
}

BOOST_AUTO_TEST_CASE(reads_all_requests_that_it_writes)
{
    for (const request& each : requests_of_all_kinds()) {
        const auto read = read_request(encode(each));
        BOOST_REQUIRE(read);
        BOOST_TEST(same(*read, each));
    }
}

BOOST_AUTO_TEST_CASE(reads_all_replies_that_it_writes)
{
    const reply_body body{.path = "/a/b0000000001",
        .stat = some_stat,
        .data = "value",
        .children = {"x", "", "lock-0000000001"}};
    for (const request& each : requests_of_all_kinds()) {
        const std::string bytes = encode({.number = each.number, .zxid = 5}, each.what, body);
        const auto header = read_header(bytes);
        BOOST_REQUIRE(header);
        BOOST_TEST(header->number == each.number);
        BOOST_TEST(header->zxid == 5);
        const auto read = read_body(each.what, bytes);
        BOOST_REQUIRE(read);
        BOOST_TEST(encode({.number = each.number, .zxid = 5}, each.what, *read) == bytes);
    }
    const auto children =
        read_body(operation::get_children2, encode(reply_header{}, operation::get_children2, body));
    BOOST_TEST((children->children == body.children));
    BOOST_TEST((children->stat == some_stat));
}

BOOST_AUTO_TEST_CASE(reads_an_error_and_an_event)
{
    const auto header =
        read_header(encode(reply_header{.number = 4, .zxid = 8, .error = code::no_node}));
    BOOST_REQUIRE(header);
    BOOST_TEST(header->error == -101);
    const std::string bytes =
        encode(watch_event{.change = change::deleted, .state = 3, .path = "/a"});
    BOOST_TEST(read_header(bytes)->number == number::watch_event);
    const auto event = read_event(bytes);
    BOOST_REQUIRE(event);
    BOOST_TEST(event->change == change::deleted);
    BOOST_TEST(event->path == "/a");
}

BOOST_AUTO_TEST_CASE(refuses_every_message_that_is_cut_off)
{
    const reply_body body{.path = "/a", .stat = some_stat, .data = "v", .children = {"x", "yy"}};
    for (const request& each : requests_of_all_kinds()) {
        const std::string asked = encode(each);
        for (std::size_t size = 0; size < asked.size(); ++size)
            BOOST_TEST(!read_request(std::string_view(asked).substr(0, size)));
        const std::string answered = encode({}, each.what, body);
        for (std::size_t size = 0; size < answered.size(); ++size)
            BOOST_TEST(!read_body(each.what, std::string_view(answered).substr(0, size)));
    }
    const std::string event = encode(watch_event{.change = 2, .state = 3, .path = "/a"});
    for (std::size_t size = 0; size < event.size(); ++size)
        BOOST_TEST(!read_event(std::string_view(event).substr(0, size)));
    for (std::size_t size = 0; size < 16; ++size)
        BOOST_TEST(!read_header(std::string_view(event).substr(0, size)));
}

BOOST_AUTO_TEST_CASE(refuses_operations_that_it_does_not_know)
{
    BOOST_TEST(!read_request("\0\0\0\1\0\0\0\x63"sv));
    BOOST_TEST(!read_request("\0\0\0\1\xff\xff\xff\xff"sv));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
