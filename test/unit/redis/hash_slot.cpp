// Slots of keys, the names of keys in one slot, tables of slots, and what sends a request
// elsewhere.
#include "redis/node/hash_slot.hpp"

#include "redis/dialect/key_names.hpp"
#include "redis/node/redirection.hpp"
#include "redis/node/slot_table.hpp"
#include "resp/reader.hpp"
#include "unit/redis/blob.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::string_literals;
namespace resp = holdfast::resp;
namespace core = holdfast::core;

namespace {

std::string node(const std::string& host, int port)
{
    return "*4\r\n" + blob(host) + ":" + std::to_string(port) + "\r\n" + blob("id") + "*0\r\n";
}

std::string range(int first, int last, const std::string& nodes, int count = 1)
{
    return "*" + std::to_string(2 + count) + "\r\n:" + std::to_string(first) +
           "\r\n:" + std::to_string(last) + "\r\n" + nodes;
}

// Whether the table has accepted these bytes.
bool read(slot_table& table, const std::string& bytes)
{
    resp::reader reader;
    reader.feed(bytes);
    BOOST_REQUIRE((reader.next() == resp::reader::status::reply));
    return table.read(reader.reply(), "asked");
}

} // namespace

BOOST_AUTO_TEST_SUITE(hash_slot)

// Values of CLUSTER KEYSLOT.
BOOST_AUTO_TEST_CASE(slots_of_keys)
{
    BOOST_TEST(slot_of("123456789") == 0x31c3u % hash_slots); // of the specification
    BOOST_TEST(slot_of("foo") == 12182u);
    BOOST_TEST(slot_of("{user1000}.following") == slot_of("user1000"));
    BOOST_TEST(slot_of("foo{}{bar}") == 8363u);
    BOOST_TEST(slot_of("foo{{bar}}zap") == slot_of("{bar"));
    BOOST_TEST(slot_of("foo{bar}{zap}") == slot_of("bar"));
    BOOST_TEST(slot_of("") == 0u);
}

BOOST_AUTO_TEST_CASE(tags_of_slots)
{
    for (std::uint32_t slot = 0; slot < hash_slots; ++slot)
        BOOST_TEST_REQUIRE(slot_of("{" + tag_of_slot(slot) + "}x") == slot);
}

// All keys of a resource are in one slot, no two resources share one, and all have the prefix.
BOOST_AUTO_TEST_CASE(keys_of_a_resource)
{
    const std::string tag = tag_of_slot(slot_of("p:a}b"));
    for (const std::string prefix : {"", "p:"}) {
        key_names names(key_forms::plain(prefix), true);
        std::set<std::string> all;
        std::size_t count = 0;
        for (const std::string& resource : {"a"s, "{a}"s, "a}b"s, "}{"s, "{}x"s, "x}{y"s, "{a{b"s,
                 "{"s, "}"s, "{a}{b}"s, "a:holdfast:queue"s, tag, "\0{\xff"s}) {
            const std::string lock(names.lock_of(resource));
            const std::string queue(names.queue_of(lock)), window(names.window_of(lock));
            BOOST_TEST(lock == prefix + resource);
            BOOST_TEST(slot_of(queue) == slot_of(lock), queue);
            BOOST_TEST(slot_of(window) == slot_of(lock), window);
            BOOST_TEST(queue.starts_with(prefix));
            BOOST_TEST(window.starts_with(prefix));
            all.insert({lock, queue, window});
            count += 3;
        }
        BOOST_TEST(all.size() == count);
    }
    key_names names(key_forms::plain(), true);
    BOOST_TEST(names.queue_of("a") == "{a}:holdfast:queue:");
    BOOST_TEST(names.queue_of("{a}") == "{a}:holdfast:queue");
}

BOOST_AUTO_TEST_CASE(table_is_read)
{
    slot_table table;
    const std::string answer =
        "*3\r\n" + range(0, 99, node("10.0.0.1", 7001) + node("10.0.0.2", 7002), 2) +
        range(100, 16382, node("", 7003)) + range(16383, 16383, node("10.0.0.1", 7001));
    BOOST_TEST(read(table, answer));
    BOOST_TEST_REQUIRE(table.primaries().size() == 2u); // no replica
    BOOST_TEST(table.primaries()[0].host == "10.0.0.1");
    BOOST_TEST(table.primaries()[0].port == 7001);
    BOOST_TEST(table.primaries()[1].host == "asked"); // it does not know its own address
    BOOST_TEST(table.owner_of(0) == 0);
    BOOST_TEST(table.owner_of(99) == 0);
    BOOST_TEST(table.owner_of(100) == 1);
    BOOST_TEST(table.owner_of(16382) == 1);
    BOOST_TEST(table.owner_of(16383) == 0);

    slot_table other;
    BOOST_TEST(read(other, answer));
    BOOST_TEST((table == other));
    BOOST_TEST(read(other, "*1\r\n" + range(0, 99, node("10.0.0.1", 7001))));
    BOOST_TEST((table != other));
    BOOST_TEST(other.owner_of(100) == slot_table::nobody);
}

BOOST_AUTO_TEST_CASE(hostile_tables)
{
    slot_table table;
    const std::string good = node("h", 1);
    for (const std::string& bad : {"*0\r\n"s, ":1\r\n"s, "$-1\r\n"s, "*1\r\n:1\r\n"s,
             "*1\r\n*0\r\n"s, "*1\r\n*2\r\n:0\r\n:1\r\n"s, "*1\r\n*3\r\n:0\r\n:1\r\n*0\r\n"s,
             "*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n" + blob("h"), "*1\r\n" + range(-1, 5, good),
             "*1\r\n" + range(0, 16384, good), "*1\r\n" + range(9, 5, good),
             "*1\r\n" + range(0, 5, node("h", 0)), "*1\r\n" + range(0, 5, node("h", 65536)),
             "*1\r\n" + range(0, 5, node("a b", 1)), "*1\r\n" + range(0, 5, node("a\r\nb", 1)),
             "*2\r\n" + range(0, 5, good) + ":7\r\n",
             "*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n*1\r\n:1\r\n:7001\r\n" + blob("id"),
             "*1\r\n" + range(0, 5, node("?", 1))})
        BOOST_TEST(!read(table, bad), bad);

    std::string many = "*" + std::to_string(slot_table::most_primaries + 1) + "\r\n";
    for (int i = 0; i <= static_cast<int>(slot_table::most_primaries); ++i)
        many += range(i, i, node("h", 1 + i));
    resp::reader reader({.elements = 100'000});
    reader.feed(many);
    BOOST_REQUIRE((reader.next() == resp::reader::status::reply));
    BOOST_TEST(!table.read(reader.reply(), "asked"));
}

BOOST_AUTO_TEST_CASE(redirections)
{
    const auto ask = read_redirection("ASK 3999 10.0.0.2:6381", "asked");
    BOOST_REQUIRE(ask.has_value());
    BOOST_TEST(ask->asks);
    BOOST_TEST(ask->slot == 3999u);
    BOOST_TEST(ask->to.host == "10.0.0.2");
    BOOST_TEST(ask->to.port == 6381);
    const auto moved = read_redirection("MOVED 0 2001:db8::1:7001", "asked");
    BOOST_TEST(!moved.value().asks);
    BOOST_TEST(moved.value().to.host == "2001:db8::1");
    BOOST_TEST(read_redirection("ASK 16383 :1", "asked").value().to.host == "asked");
    for (const std::string bad : {"", "ASK", "ASK 1", "ASK 1 h", "ASK 1 h:", "ASK 1 h:0",
             "ASK 1 h:65536", "ASK 16384 h:1", "ASK -1 h:1", "ASK x h:1", "ASKED 1 h:1",
             "ASK 1 a/b:1", "ASK  1 h:1", "TRYAGAIN 1 h:1"})
        BOOST_TEST(!read_redirection(bad, "asked"), bad);
}

BOOST_AUTO_TEST_SUITE_END()
