#include "redis/dialect/common_calls.hpp"

#include "redis/dialect/fenced_calls.hpp"
#include "redis/node/scripts.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>

using namespace holdfast::redis;
using namespace std::chrono_literals;
namespace core = holdfast::core;

namespace {

struct calls_fixture {
    calls_fixture()
    {
        core::owner_token token;
        token.text.fill('x');
        c.begin(7, names.lock_of("A"), token, {.ttl = 10s}, 3);
    }

    key_names names{{}, {}, queue_suffix};
    common_calls calls{names, "channel"};
    claim c;
};

bool has(std::string_view command, std::string_view word)
{
    return command.find("\r\n" + std::string(word) + "\r\n") != command.npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(redlock_common_calls)

BOOST_AUTO_TEST_CASE(names_of_plain_mode)
{
    key_names names({}, {}, queue_suffix);
    BOOST_TEST(names.lock_of("stock:A") == "stock:A");
    BOOST_TEST(names.queue_of("stock:A") == "stock:A:holdfast:queue");
    BOOST_TEST(names.window_of("stock:A") == "stock:A:holdfast:open");
}

BOOST_AUTO_TEST_CASE(names_of_fenced_mode)
{
    key_names names = fenced_calls::names();
    BOOST_TEST(names.lock_of("stock:A") == "hf:l:stock:A");
    BOOST_TEST(names.queue_of("hf:l:stock:A") == "hf:q:stock:A");
}

BOOST_AUTO_TEST_CASE(names_with_a_prefix)
{
    key_names plain("shop:", "shop:", queue_suffix);
    BOOST_TEST(plain.lock_of("A") == "shop:A");
    BOOST_TEST(plain.queue_of("shop:A") == "shop:A:holdfast:queue");
    BOOST_TEST(plain.window_of("shop:A") == "shop:A:holdfast:open");
    key_names fenced = fenced_calls::names("shop:");
    BOOST_TEST(fenced.lock_of("A") == "shop:hf:l:A");
    BOOST_TEST(fenced.queue_of("shop:hf:l:A") == "shop:hf:q:A");
    const fenced_calls calls({}, "shop:");
    std::string counter;
    calls.name_counter(counter, "shop:hf:l:A");
    BOOST_TEST(counter == "shop:hf:f:A");
    BOOST_TEST(calls.record() == "shop:hf:n");
}

BOOST_FIXTURE_TEST_CASE(a_lock_is_set_if_it_is_free, calls_fixture)
{
    const std::string token(32, 'x');
    BOOST_TEST(calls.set(c) == "*6\r\n$3\r\nSET\r\n$1\r\nA\r\n$32\r\n" + token +
                                   "\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n10000\r\n");
}

BOOST_FIXTURE_TEST_CASE(a_script_is_called_by_its_digest_or_its_text, calls_fixture)
{
    BOOST_TEST(has(calls.remove(c, false), release_script.digest));
    BOOST_TEST(has(calls.remove(c, true), release_script.text));
}

// A place names the claim and where to announce its turn.
BOOST_FIXTURE_TEST_CASE(a_place_in_the_queue, calls_fixture)
{
    const std::string place = calls.place_of(c, 0x1200000034u);
    BOOST_TEST(place == std::string(32, 'x') + "0000001200000034" + "channel");
    BOOST_TEST(has(calls.join(c, place), place));
    BOOST_TEST(has(calls.leave(c, place), "A:holdfast:queue"));
}

// Only where a window is wanted, the request names its key.
BOOST_FIXTURE_TEST_CASE(a_hand_off_may_ask_for_a_window, calls_fixture)
{
    BOOST_TEST(!has(calls.hand_off(c, 1, {}, false), "A:holdfast:open"));
    c.keys[1].leaves_open = true;
    BOOST_TEST(has(calls.hand_off(c, 1, {}, false), "A:holdfast:open"));
    BOOST_TEST(!has(calls.hand_off(c, 0, {}, false), "A:holdfast:open"));
}

// The key is kept for the next client for no longer than the ttl of the lock.
BOOST_FIXTURE_TEST_CASE(a_hand_off_is_short, calls_fixture)
{
    BOOST_TEST(has(calls.hand_off(c, 0, {}, false), "500"));
    c.params.ttl = 200ms;
    BOOST_TEST(has(calls.hand_off(c, 0, {}, false), "200"));
}

BOOST_AUTO_TEST_SUITE_END()
