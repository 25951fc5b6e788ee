// Malformed and incomplete commands: the model parses its input like the real server, and closes
// the connection when the real one does.
#include "verification/fidelity/twins.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace holdfast::test;
using namespace std::string_literals;
using words = twins::words;

// Each is followed by a PING, which shows whether the connection is still served.
const std::vector<std::string> inputs{
    "PING\r\n"s,
    "PING\nPING\n"s,
    "\r\n\n  \r\n"s,
    "HELLO 3\r\nCLIENT TRACKING ON OPTIN\r\nCLIENT CACHING YES\r\nGET a\r\nSET a b\r\n"s,
    "HELLO 3\r\nCLIENT TRACKING ON OPTIN\r\nCLIENT CACHING YES\r\n\r\nGET a\r\nSET a b\r\n"s,
    "HELLO 3\r\nCLIENT TRACKING ON OPTIN\r\nCLIENT CACHING YES\r\n*0\r\nGET a\r\nSET a b\r\n"s,
    "  PING   now \r\n"s,
    "set a \"b\\x41\\n\\r\\t\\b\\a\\q\\\" c\"\r\nget a\r\n"s,
    "SET a \"\\x4\" \\x41\r\nGET a\r\n"s,
    "SET 'it\\'s' 'a\\n'\r\nGET \"it's\"\r\n"s,
    "SET a b\"c d\"\r\nGET a\r\n"s,
    "SET a \"b\r\n"s,
    "SET a 'b\r\n"s,
    "SET a 'b'c\r\n"s,
    "SET a \"b\"c\r\n"s,
    "PING \"\"\r\n"s,
    "\"\"\r\n"s,
    "P\rING\r\n"s,
    "PING\va\r\n"s,
    "FOO \"a\\r\\nb\"\r\n"s,
    "PING a\0b\r\n"s,
    "GET\r\n"s,
    "QUIT\r\n"s,
    "QUIT a b\r\n"s,
    "*0\r\n"s,
    "*-1\r\n"s,
    "*-99\r\n"s,
    "*\r\n"s,
    "*x\r\n"s,
    "* 1\r\n"s,
    "*01\r\n"s,
    "*+1\r\n"s,
    "*1\0\r\n"s,
    "*2147483647\r\n"s,
    "*2147483648\r\n"s,
    "*99999999999999999999\r\n"s,
    "*1\n$4\nPING\n"s,
    "*1\rX$4\rXPINGXX"s,
    "*1\r\n$4\r\nPINGxx"s,
    "*1\r\nPING\r\n"s,
    "*1\r\n\r\n"s,
    "*1\r\n\n\r\n"s,
    "*1\r\n:4\r\n"s,
    "*1\r\n$\r\n"s,
    "*1\r\n$-1\r\n"s,
    "*1\r\n$04\r\nPING\r\n"s,
    "*1\r\n$x\r\n"s,
    "*1\r\n$0\r\n\r\n"s,
    "*2\r\n$4\r\nPING\r\n$0\r\n\r\n"s,
    "*1\r\n$536870912\r\n"s,
    "*1\r\n$536870913\r\n"s,
    "*1\r\n$16385\r\n"s,
    "*1\r\n$16384\r\n"s,
    "*10\r\n$4\r\nPING\r\n"s,
    "*11\r\n$4\r\nPING\r\n"s,
    "*2\r\n$3\r\nGET\r\n$4\r\na\0b\r\r\n"s,
    "*1\r\n$4\r\nG\0ET\r\n"s,
    "*2\r\n$4\r\nPING\r\n$100000\r\n" + std::string(100'000, 'p') + "\r\n",
};

// Lines without an end. No PING after these: whether the server sees the end of a line in time
// depends on how many bytes it reads at once.
const std::vector<std::string> endless{
    std::string(64 * 1024, 'a'),
    std::string(64 * 1024 + 1, 'a'),
    std::string(64 * 1024 + 1, ' '),
    "*" + std::string(64 * 1024 - 1, '1'),
    "*" + std::string(64 * 1024, '1'),
    "*1\r\n$" + std::string(64 * 1024 - 1, '1'),
    "*1\r\n$" + std::string(64 * 1024, '1'),
};

// Whether a wrong byte cannot turn the command into one that only the real server knows.
bool suits(const words& command)
{
    static const std::vector<std::string_view> names{
        "SET", "GET", "SETNX", "GETSET", "DEL", "EXISTS", "TYPE", "PING", "EVALSHA", "SELECT"};
    return std::find(names.begin(), names.end(), command[0]) != names.end();
}

std::string damaged(std::string bytes, random_commands& random)
{
    static const std::string likely = "\r\n$*0129 \"'\0-PGS"s;
    for (std::size_t left = 1 + random.roll(3); left > 0 && !bytes.empty(); --left) {
        const std::size_t at = random.roll(bytes.size());
        const char c = likely[random.roll(likely.size())];
        switch (random.roll(4)) {
        case 0:
            bytes[at] = c;
            break;
        case 1:
            bytes.erase(at, 1);
            break;
        case 2:
            bytes.insert(at, 1, c);
            break;
        default:
            bytes[at] = static_cast<char>(random.roll(256));
        }
    }
    return bytes;
}

} // namespace

BOOST_AUTO_TEST_SUITE(input)

BOOST_AUTO_TEST_CASE(malformed_input_is_answered_as_by_a_real_server)
{
    const std::string ping = "*1\r\n$4\r\nPING\r\n";
    for (const std::string password : {"", "secret"}) {
        twins both(password);
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            random_commands random(seed);
            for (const std::string& input : inputs)
                both.say_bytes(input + ping, random);
            for (const std::string& input : endless)
                both.say_bytes(input, random);
        }
    }
}

BOOST_AUTO_TEST_CASE(damaged_commands_are_answered_as_by_a_real_server)
{
    twins both;
    for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            random_commands random(seed, random_commands::about::no_time);
            std::string bytes;
            for (std::size_t left = 1 + random.roll(8); left > 0;) {
                const words command = random.next();
                if (suits(command)) {
                    bytes += encode_command(command);
                    --left;
                }
            }
            both.say_bytes(damaged(bytes, random), random);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
