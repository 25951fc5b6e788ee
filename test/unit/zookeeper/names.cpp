#include "zookeeper/node_names.hpp"
#include "zookeeper/queue_place.hpp"

#include <boost/test/unit_test.hpp>

#include <climits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace std::string_view_literals;
using namespace holdfast::zookeeper_store;

namespace {

using place_state = queue_place::state;

BOOST_AUTO_TEST_SUITE(zookeeper_names)

BOOST_AUTO_TEST_CASE(names_of_resources_are_escaped_both_ways)
{
    BOOST_TEST(escaped("stock:A_1.b-c") == "stock:A_1.b-c");
    BOOST_TEST(escaped("a/b%\n\xff") == "a%2Fb%25%0A%FF");
    BOOST_TEST(escaped(".") == "%2E");
    BOOST_TEST(escaped("..") == "%2E.");
    BOOST_TEST(escaped("zookeeper") == "%7Aookeeper");
    BOOST_TEST(escaped("_s_1") == "%5Fs_1"); // a session's node has such a name
    std::string all;
    for (int c = 0; c < 256; ++c)
        all += static_cast<char>(c);
    for (const std::string& each : {all, std::string("."), std::string(".."), std::string("_s_")})
        BOOST_TEST((unescaped(escaped(each)) == each));
}

BOOST_AUTO_TEST_CASE(names_that_no_resource_has_are_refused)
{
    for (const auto bad :
        {"a b"sv, "%"sv, "%2"sv, "%zz"sv, "%41"sv, "_s_1"sv, "zookeeper"sv, "%2f"sv, "%-1"sv})
        BOOST_TEST(!unescaped(bad));
}

BOOST_AUTO_TEST_CASE(the_number_is_read_from_the_end_of_a_name)
{
    const auto is = [](std::string_view name, std::optional<std::int32_t> wanted) {
        BOOST_TEST((sequence_of(name) == wanted), name);
    };
    is("_c_x-lock-0000000005", 5);
    is("_c_x-lock-2147483647", INT32_MAX);
    is("_c_x-lock--2147483648", INT32_MIN);
    is("_c_x-lock--000000005", -5);
    is("0123__lock__-000000005", -5);
    is("0123__lock__-1500000000", -1500000000);
    is("0123__lock__0000000007", 7);
    is("lock-0000000007", 7);
    is("lock--1500000000", -1500000000);
    is("lock-1500000000", 1500000000);
    is("write10000000007", 7);
    is("lock-123", std::nullopt);
    is("lock", std::nullopt);
    is("", std::nullopt);
    is("lock-9999999999", std::nullopt);
}

BOOST_AUTO_TEST_CASE(numbers_at_the_end_of_the_counter_are_behind_all_others)
{
    BOOST_TEST(is_before(1, 2));
    BOOST_TEST(!is_before(2, 2));
    BOOST_TEST(is_before(INT32_MAX - 1, INT32_MAX));
    BOOST_TEST(is_before(INT32_MAX - 1, INT32_MIN));
    BOOST_TEST(is_before(0, -1));
    BOOST_TEST(tells_order(0));
    BOOST_TEST(tells_order(INT32_MAX - 1));
    for (const std::int32_t end : {INT32_MAX, INT32_MIN, -1})
        BOOST_TEST(!tells_order(end));
}

BOOST_AUTO_TEST_CASE(paths_lead_from_the_root)
{
    const node_paths paths("/a/b");
    BOOST_TEST((paths.folders() == std::vector<std::string>{"/a", "/a/b"}));
    BOOST_TEST(paths.queue_of("x/y") == "/a/b/x%2Fy");
    BOOST_TEST(paths.proof_of(-1) == "/a/b/_s_ffffffffffffffff");
    const node_paths top("");
    BOOST_TEST(top.folders().empty());
    BOOST_TEST(top.root() == "/");
    BOOST_TEST(top.queue_of("x") == "/x");
}

BOOST_AUTO_TEST_CASE(the_token_is_found_in_the_name)
{
    const std::string token(32, 'T');
    BOOST_TEST(lock_prefix(token, 0, true) == "_c_" + token + "-lock-");
    BOOST_TEST(lock_prefix(token, 3, true) == "_c_" + token + ".3-lock-");
    BOOST_TEST(token_in(lock_prefix(token, 3, true) + "0000000001") == token);
    BOOST_TEST(token_in("lock-0000000001") == "lock-0000000001");
    BOOST_TEST(token_in("_c_") == "_c_");
}

BOOST_AUTO_TEST_CASE(the_name_says_that_a_node_never_waits)
{
    const std::string token(32, 'T');
    BOOST_TEST(lock_prefix(token, 0, false) == "_c_" + token + ".try-lock-");
    BOOST_TEST(lock_prefix(token, 3, false) == "_c_" + token + ".try.3-lock-");
    BOOST_TEST(token_in(lock_prefix(token, 3, false) + "0000000001") == token);
    BOOST_TEST(never_waits(lock_prefix(token, 3, false) + "0000000001"));
    BOOST_TEST(!never_waits(lock_prefix(token, 3, true) + "0000000001"));
    BOOST_TEST(!never_waits("_c_.try-lock-0000000001"));
    BOOST_TEST(!never_waits(""));
}

queue_place at(const std::string& name, std::int64_t created = 10)
{
    queue_place place;
    place.reset("/q");
    BOOST_REQUIRE(place.created_as("/q/" + name, created));
    return place;
}

BOOST_AUTO_TEST_CASE(the_node_directly_before_is_found)
{
    queue_place place = at("me-0000000005");
    place.listed({"c-0000000004", "me-0000000005", "a-0000000009", "b-0000000001", "readme"});
    BOOST_TEST((place.where() == place_state::waits));
    BOOST_TEST(place.before() == "c-0000000004");
    BOOST_TEST(place.others() == 3u);
    BOOST_TEST(!place.before_is_gone()); // there is another one
    place.listed({"me-0000000005", "b-0000000001"});
    BOOST_TEST(place.before() == "b-0000000001");
    BOOST_TEST(place.before_is_gone());
    BOOST_TEST((place.where() == place_state::first));
}

BOOST_AUTO_TEST_CASE(a_node_that_is_not_listed_is_absent)
{
    queue_place place = at("me-0000000005");
    place.listed({"c-0000000004"});
    BOOST_TEST((place.where() == place_state::absent));
}

BOOST_AUTO_TEST_CASE(nodes_at_the_end_of_the_counter_are_not_before_a_node)
{
    queue_place place = at("me-2147483646");
    BOOST_TEST(place.has_order());
    place.listed({"me-2147483646", "a-2147483647", "b--2147483648", "c--0000000001"});
    BOOST_TEST((place.where() == place_state::first));
    for (const auto name : {"me-2147483647", "me--2147483648", "me--2147483647"})
        BOOST_TEST(!at(name).has_order());
}

BOOST_AUTO_TEST_CASE(a_path_that_is_no_node_of_the_queue_is_refused)
{
    queue_place place;
    place.reset("/q");
    for (const auto bad :
        {"/q"sv, "/q/"sv, "/r/me-0000000005"sv, "/qq/me-0000000005"sv, "/q/me"sv, ""sv})
        BOOST_TEST(!place.created_as(bad, 1));
    BOOST_TEST(!place.created_as("/q/me-0000000005", 0));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
