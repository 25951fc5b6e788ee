#include "core/owner_text.hpp"

#include <holdfast/version.hpp>

#include <boost/test/unit_test.hpp>

using namespace holdfast;
using namespace holdfast::core;

namespace {

BOOST_AUTO_TEST_SUITE(owner_text)

// A token of client 7, of 1,700,000,000 s after the epoch.
const std::string token = "AAAAAAAAAAAAAAAAAAAAAGVT8QAAAAAH";

lock_owner owner_with(const std::string& value)
{
    return owner_of(token, value);
}

BOOST_AUTO_TEST_CASE(a_value_tells_the_process)
{
    const std::string value =
        value_of("shop", {.host = "web-1", .program = "order server", .pid = 42, .started = 99});
    BOOST_TEST(value == "shop 42@web-1 order?server " HOLDFAST_VERSION_STRING " 99");
    const lock_owner owner = owner_with(value);
    BOOST_TEST(!owner.foreign);
    BOOST_TEST(owner.id == 7u);
    BOOST_TEST(owner.mark == "AAAAAAAA");
    BOOST_TEST((owner.since.time_since_epoch() == std::chrono::seconds(1'700'000'000)));
    BOOST_REQUIRE(owner.client.has_value());
    BOOST_TEST(owner.client_confirmed);
    BOOST_TEST(owner.client->client_name == "shop");
    BOOST_TEST(owner.client->pid == 42u);
    BOOST_TEST(owner.client->host == "web-1");
    BOOST_TEST(owner.client->program == "order?server");
    BOOST_TEST(owner.client->version == HOLDFAST_VERSION_STRING);
    BOOST_TEST((owner.client->started.time_since_epoch() == std::chrono::seconds(99)));
}

BOOST_AUTO_TEST_CASE(other_values_tell_no_process)
{
    for (const char* const value :
        {"", " ", "holdfast", "shop 42 web order 1 99", "shop 42@web order 0.1.0",
            "shop 42@web order 0.1.0 99 more", "shop -1@web order 0.1.0 99",
            "shop 4294967296@web order 0.1.0 99", "shop 42@web order 0.1.0 9000000001",
            "shop 42@web order 0.1.0 -5", "shop x@web order 0.1.0 99", "    "}) {
        const lock_owner owner = owner_with(value);
        BOOST_TEST(!owner.client.has_value(), value);
        BOOST_TEST(!owner.client_confirmed);
        BOOST_TEST(owner.id == 7u);
    }
}

BOOST_AUTO_TEST_CASE(control_characters_are_not_passed_on)
{
    const lock_owner owner = owner_with("a\x1b[2J 42@w\x07 p\n 1\x7f 99");
    BOOST_REQUIRE(owner.client.has_value());
    BOOST_TEST(owner.client->client_name == "a?[2J");
    BOOST_TEST(owner.client->host == "w?");
    BOOST_TEST(owner.client->program == "p?");
    BOOST_TEST(owner.client->version == "1?");
}

BOOST_AUTO_TEST_CASE(keys_of_other_clients_are_foreign)
{
    for (const char* const name : {"694d7c5e2f9a8b01", "", "\x1b]0;title"}) {
        const lock_owner owner = owner_of(name, "shop 42@web order 0.1.0 99");
        BOOST_TEST(owner.foreign);
        BOOST_TEST(!owner.client.has_value());
        BOOST_TEST(owner.mark.find('\x1b') == owner.mark.npos);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
