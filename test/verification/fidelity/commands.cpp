// Long sequences of random commands: the model gives the same replies as the real server, byte for
// byte.
#include "verification/fidelity/twins.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace holdfast::test;
using words = twins::words;

// Reports at the end how much was compared.
struct account {
    ~account()
    {
        BOOST_TEST_MESSAGE("replies compared: " << twins::compared);
        BOOST_TEST_MESSAGE("messages compared: " << twins::pushes);
    }
};

} // namespace

BOOST_TEST_GLOBAL_FIXTURE(account);

BOOST_AUTO_TEST_SUITE(commands)

BOOST_AUTO_TEST_CASE(random_commands_are_answered_as_by_a_real_server)
{
    twins both;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            random_commands random(seed);
            both.say(10'000, random);
        }
    }
}

// The handshake asks for these.
BOOST_AUTO_TEST_CASE(sections_of_info_are_those_of_a_real_server)
{
    twins both;
    random_commands random(1);
    for (const char* const section : {"server", "memory", "nothing"})
        both.say(both.connected(0), {{"INFO", section}, {"INFO", section, "memory"}}, random);
}

// Before AUTH nearly all commands are refused, and too much input ends the connection. After AUTH a
// wrong password changes nothing.
BOOST_AUTO_TEST_CASE(unauthenticated_clients_are_refused_as_by_a_real_server)
{
    twins both("secret");
    for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            random_commands random(seed, random_commands::about::no_time);
            std::string bytes;
            for (std::size_t left = random.roll(60); left > 0; --left) {
                const words command = random.one_in(20) ? words{"AUTH", "secret"} : random.next();
                const char first =
                    static_cast<char>(command[0].empty() ? ' ' : command[0][0] | 0x20);
                if (first != 'i' && first != 't') // INFO and TIME are compared elsewhere
                    bytes += encode_command(command);
            }
            both.say_bytes(bytes, random);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
