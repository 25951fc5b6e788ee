#include "redis/dialect/common_calls.hpp"

#include "redis/dialect/fenced_calls.hpp"
#include "redis/node/fence_scripts.hpp"
#include "redis/node/scripts.hpp"
#include "redis/quorum/rendezvous.hpp"

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

    key_names names{key_forms::plain()};
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
    key_names names(key_forms::plain());
    BOOST_TEST(names.lock_of("stock:A") == "stock:A");
    BOOST_TEST(names.queue_of("stock:A") == "stock:A:holdfast:queue");
    BOOST_TEST(names.window_of("stock:A") == "stock:A:holdfast:open");
}

BOOST_AUTO_TEST_CASE(names_of_fenced_mode)
{
    key_names names(fenced_calls::names());
    BOOST_TEST(names.lock_of("stock:A") == "hf:l:stock:A");
    BOOST_TEST(names.queue_of("hf:l:stock:A") == "hf:q:stock:A");
    BOOST_TEST(names.window_of("hf:l:stock:A") == "hf:w:stock:A");
}

BOOST_AUTO_TEST_CASE(names_with_a_prefix)
{
    key_names plain(key_forms::plain("shop:"));
    BOOST_TEST(plain.lock_of("A") == "shop:A");
    BOOST_TEST(plain.queue_of("shop:A") == "shop:A:holdfast:queue");
    BOOST_TEST(plain.window_of("shop:A") == "shop:A:holdfast:open");
    key_names fenced(fenced_calls::names("shop:"));
    BOOST_TEST(fenced.lock_of("A") == "shop:hf:l:A");
    BOOST_TEST(fenced.queue_of("shop:hf:l:A") == "shop:hf:q:A");
    BOOST_TEST(fenced.window_of("shop:hf:l:A") == "shop:hf:w:A");
    const fenced_calls calls({}, "shop:");
    BOOST_TEST(calls.registers() == "shop:hf:f");
    BOOST_TEST(calls.record() == "shop:hf:n");
}

// A node of fenced mode is opened with what all clients must agree on, and with what this client
// knows.
BOOST_AUTO_TEST_CASE(a_node_is_opened)
{
    fence_settings terms{.quarantine = 60s, .ahead = 1s};
    BOOST_TEST(fenced_calls(terms).open("id", 1'700'000'000'000) ==
               "*10\r\n$4\r\nEVAL\r\n$" + std::to_string(open_script.text.size()) + "\r\n" +
                   std::string(open_script.text) +
                   "\r\n$1\r\n2\r\n$4\r\nhf:n\r\n$4\r\nhf:f\r\n$16\r\n60000 1000 16384\r\n"
                   "$2\r\nid\r\n$5\r\n62000\r\n$13\r\n1700000000000\r\n$0\r\n\r\n");
    terms.trusted_persistence = true;
    BOOST_TEST(has(fenced_calls(terms).open("id", 0), "kept"));
    terms.first_deployment = true; // a node without a record is new, whatever it would keep
    BOOST_TEST(has(fenced_calls(terms).open("id", 0), "first"));
}

// The hash of the lock decides which register it has. A ballot is stored only if it is larger.
BOOST_AUTO_TEST_CASE(a_ballot)
{
    fenced_calls calls({});
    BOOST_TEST(calls.ballot(3 * 16'384 + 77, 13'600'000'000'000) ==
               "*7\r\n$4\r\nZADD\r\n$4\r\nhf:f\r\n$2\r\nXX\r\n$2\r\nGT\r\n$2\r\nCH\r\n"
               "$14\r\n13600000000000\r\n$2\r\n77\r\n");
    BOOST_TEST(calls.largest_ballot(77) == "*3\r\n$6\r\nZSCORE\r\n$4\r\nhf:f\r\n$2\r\n77\r\n");
    BOOST_TEST(fenced_calls::register_of(16'383) == 16'383u);
    BOOST_TEST(fenced_calls::register_of(16'384) == 0u);
    // All clients must agree on this.
    BOOST_TEST(fenced_calls::register_of(hash_of("hf:l:A")) == 8865u);
    BOOST_TEST(fenced_calls::register_of(hash_of("hf:l:stock:A")) == 13440u);
}

BOOST_FIXTURE_TEST_CASE(a_lock_is_set_if_it_is_free, calls_fixture)
{
    const std::string token(32, 'x');
    BOOST_TEST(calls.set(c) == "*6\r\n$3\r\nSET\r\n$1\r\nA\r\n$32\r\n" + token +
                                   "\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n10000\r\n");
}

BOOST_FIXTURE_TEST_CASE(a_script_is_called_by_its_digest_or_its_text, calls_fixture)
{
    BOOST_TEST(has(calls.remove(c, 0, false), release_script.digest));
    BOOST_TEST(has(calls.remove(c, 0, true), release_script.text));
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
