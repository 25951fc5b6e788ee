// The record that a locker keeps of itself at each node.
#include "unit/redis/inspection_fixture.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using words = told_node::words;

const core::client_identity self{"a.example", "shop", 42, 1'790'000'000};

struct record_fixture : inspection_fixture {
    std::string text = redis::text_of_client(self, "test", channel);

    void introduce() { people.introduce(self, now); }
    const redis::client_record& record() { return people.record(); }
};

BOOST_FIXTURE_TEST_SUITE(redlock_client_record, record_fixture)

BOOST_AUTO_TEST_CASE(it_is_written_renewed_and_deleted)
{
    answer_all([](const words& w) { return w[0] == "SET" ? std::string("+OK\r\n") : number(1); });
    introduce();
    run();
    BOOST_TEST(record().id() == 0x01234567u);
    const std::string set = "SET holdfast:client:01234567 " + text + " NX PX 60000";
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST(log(i) == set);
    pass(19999ms);
    BOOST_TEST(log(0) == "");
    pass(1ms);
    BOOST_TEST(log(0) == "PEXPIRE holdfast:client:01234567 60000");
    pass(20s);
    BOOST_TEST(log(0) == "PEXPIRE holdfast:client:01234567 60000");

    nodes[0].answer = [](const words&) {
        return number(0);
    }; // it has lost the record
    pass(20s);
    BOOST_TEST(log(0) == "PEXPIRE holdfast:client:01234567 60000, " + set);

    answer_all({});
    nodes[0].log.clear();
    people.withdraw(now);
    BOOST_TEST(record().under_way() == 3u);
    run();
    BOOST_TEST(log(0) == "release 1 holdfast:client:01234567 " + text);
    told_node::give(*pool.connections()[0], number(1), now);
    BOOST_TEST(record().under_way() == 2u);
    pool[1].fail(errc::protocol_error, "test", now);
    BOOST_TEST(record().under_way() == 1u);
    told_node::give(*pool.connections()[2], "-ERR\r\n", now);
    BOOST_TEST(record().under_way() == 0u);
    nodes[1].log.clear();
    pass(60s);
    BOOST_TEST(log(1) == ""); // connected again, but it is withdrawn
}

BOOST_AUTO_TEST_CASE(a_new_connection_finds_its_record)
{
    answer_all([&](const words& w) -> std::string {
        if (w[0] == "SET")
            return "$-1\r\n";
        return w[0] == "GET" ? blob(text) : number(1);
    });
    introduce();
    run();
    BOOST_TEST(log(0).ends_with("GET holdfast:client:01234567, "
                                "PEXPIRE holdfast:client:01234567 60000"));
    BOOST_TEST(record().id() == 0x01234567u);
}

BOOST_AUTO_TEST_CASE(an_id_of_another_locker_is_replaced_at_all_nodes)
{
    const auto free = [](const words& w) {
        return w[0] == "SET" ? std::string("+OK\r\n") : number(1);
    };
    answer_all(free);
    nodes[1].answer = [&](const words& w) -> std::string {
        if (w[1] != "holdfast:client:01234567")
            return free(w);
        return w[0] == "SET" ? "$-1\r\n" : blob("holdfast client\nhost=b\n");
    };
    introduce();
    run();
    BOOST_TEST(record().id() == 0x89abcdefu);
    BOOST_TEST(log(0).ends_with("release 1 holdfast:client:01234567 " + text +
                                ", SET holdfast:client:89abcdef " + text + " NX PX 60000"));
    BOOST_TEST(log(1).ends_with("SET holdfast:client:89abcdef " + text + " NX PX 60000"));
    pass(20s);
    BOOST_TEST(log(1) == "PEXPIRE holdfast:client:89abcdef 60000");
}

// A node that claims every id, and one that forbids the record, cost little.
BOOST_AUTO_TEST_CASE(hopeless_nodes_are_left_alone)
{
    answer_all([](const words& w) { return w[0] == "SET" ? std::string("+OK\r\n") : number(1); });
    nodes[1].answer = [](const words& w) -> std::string {
        return w[0] == "SET" ? "$-1\r\n" : w[0] == "GET" ? blob("another") : number(0);
    };
    nodes[2].answer = [](const words&) {
        return std::string("-NOPERM this user has no permissions\r\n");
    };
    introduce();
    run();
    BOOST_TEST(nodes[1].log.size() < 40u);
    const std::uint32_t last = record().id();
    pass(1s);
    for (told_node& each : nodes)
        each.log.clear();
    pass(60s);
    BOOST_TEST(record().id() == last);
    BOOST_TEST(nodes[0].log.size() == 3u);
    BOOST_TEST(log(1) == "");
    BOOST_TEST(log(2) == "");
    for (const auto& each : pool.stats())
        BOOST_TEST(!each.last_error, each.reason);
}

BOOST_AUTO_TEST_CASE(a_full_node_gets_it_later)
{
    answer_all([](const words&) { return std::string("-OOM command not allowed\r\n"); });
    introduce();
    run();
    nodes[0].log.clear();
    pass(20s);
    BOOST_TEST(log(0).starts_with("SET "));
}

BOOST_AUTO_TEST_CASE(nobody_is_told_before_the_introduction)
{
    run();
    pass(60s);
    BOOST_TEST(log(0) == "");
    BOOST_TEST(record().under_way() == 0u);
    people.withdraw(now);
    run();
    BOOST_TEST(log(0) == "");
    BOOST_TEST(record().id() == 0x01234567u); // in tokens nevertheless
}

BOOST_AUTO_TEST_CASE(texts_are_read_back)
{
    const auto found = redis::read_client(text);
    BOOST_REQUIRE(bool(found));
    BOOST_TEST(found->info.host == "a.example");
    BOOST_TEST(found->info.pid == 42u);
    BOOST_TEST(found->info.program == "shop");
    BOOST_TEST(found->info.client_name == "test");
    BOOST_TEST(!found->info.version.empty());
    BOOST_TEST((found->info.started.time_since_epoch() == std::chrono::seconds(1'790'000'000)));
    BOOST_TEST(found->channel == channel);

    // A line break in a name adds no line.
    const auto odd = redis::read_client(
        redis::text_of_client({"a\nchannel=holdfast:x", "\x1b[2J", 1, 0}, "", channel));
    BOOST_TEST(odd.value().info.host == "a?channel=holdfast:x");
    BOOST_TEST(odd->info.program == "?[2J");
    BOOST_TEST(odd->channel == channel);
}

BOOST_AUTO_TEST_CASE(hostile_texts_are_harmless)
{
    for (const char* const none : {"", "\n", "x", "holdfast", "host=a\n", "*3\r\n"})
        BOOST_TEST(!redis::read_client(none));
    const auto numbers = redis::read_client("holdfast client\npid=4294967296\nstarted=-1\n"
                                            "started=9223372036854775807\nchannel=other\n=\nx");
    BOOST_TEST(numbers.value().info.pid == 0u);
    BOOST_TEST((numbers->info.started.time_since_epoch() == 0s));
    BOOST_TEST(numbers->channel == "");
    const auto longer = redis::read_client("holdfast client\nhost=" + std::string(100'000, 'a'));
    BOOST_TEST(longer.value().info.host.size() == 128u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
