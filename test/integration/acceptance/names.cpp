// Rows 4 to 6: names of resources.
#include "integration/acceptance/acceptance.hpp"
#include "integration/acceptance/scripted_node.hpp"

#include <map>
#include <stdexcept>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_names)

BOOST_AUTO_TEST_CASE(row_4_empty_and_over_long_names)
{
    scene s(memory());
    const auto names = [](std::string_view part) {
        return [part](const std::invalid_argument& e) {
            return std::string_view(e.what()).find(part) != std::string_view::npos;
        };
    };
    BOOST_CHECK_EXCEPTION(lock(s.locker(), ""), std::invalid_argument, names("empty"));
    const std::string longest(resource::max_size, 'x');
    BOOST_CHECK_EXCEPTION(
        lock(s.locker(), longest + 'x'), std::invalid_argument, names("at most 512"));
    run(s.io, acquire_and_release(lock(s.locker(), longest)));
    BOOST_TEST(s.locker().stats().attempts == 1u);
    s.finish();
}

const std::vector<std::string> strange_names{
    std::string(1, '\0'),
    std::string("a\0b", 3),
    "\r\n",
    "a\r\n$3\r\nfoo\r\n*1\r\n$8\r\nFLUSHALL\r\n",
    " ",
    "a b\tc",
    "\"a\" 'b' `c`",
    "{}",
    "{a}b",
    "}{",
    "\xff\xfe\xc0\x80",
    "%s%n",
    "\\",
    "*",
    "redis.call('FLUSHALL')",
    std::string(512, '\xff'),
};

task use_strange_names(scene& s, cluster& c)
{
    co_await connect_all(s.locker(0));
    co_await connect_all(s.locker(1));
    for (const auto& name : strange_names) {
        const lock ours(s.locker(0), name), theirs(s.locker(1), name);
        lease held = co_await ours.acquire();
        BOOST_TEST(held.resource() == name);
        const bool everywhere = co_await c.have_copies(name, c.size(), 5s);
        BOOST_TEST(everywhere); // under exactly this key
        BOOST_TEST(c.keys(0) == 1u);
        lease none = co_await theirs.try_acquire();
        BOOST_TEST(!none);
        co_await held.extend();
        const release_outcome outcome = co_await held.release();
        BOOST_TEST(outcome == release_outcome::released);
        const bool gone = co_await c.have_copies(name, 0, 5s);
        BOOST_TEST(gone);
    }
}

BOOST_AUTO_TEST_CASE(row_5_a_name_may_contain_any_bytes)
{
    cluster c(3);
    play(c.store(), 2, [&](scene& s) { return use_strange_names(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task be_refused_with_an_echo(scene& s, std::string address)
{
    const std::string name = "secret\r\nname\x1b[31m";
    const auto why = co_await fail_to_acquire(lock(s.locker(), name), 1s);
    BOOST_TEST(why == errc::unreachable, why.message());
    expect_blamed(s.locker().stats(), address, "unknown command", {"secret"});
}

// A node without the command echoes its arguments: the name and the owner token.
BOOST_AUTO_TEST_CASE(row_5_a_node_that_echoes_the_name)
{
    redis_server node({"--rename-command", "SET", ""});
    const auto address = address_of(node);
    play(redlock({node.url()}, quick_options()), 1,
        [&](scene& s) { return be_refused_with_an_echo(s, address); });
}

task be_refused_with_control_characters(scene& s, std::string address)
{
    const auto why = co_await fail_to_acquire(s.lock(0), 1s);
    BOOST_TEST(why == errc::unreachable, why.message());
    expect_blamed(s.locker().stats(), address, "ODD \\x1b[31m\\x00\\xff");
    const auto text = describe_nodes(s.locker().stats());
    BOOST_TEST(text.size() < 1000u); // only the beginning of the node's message
}

BOOST_AUTO_TEST_CASE(row_5_messages_of_nodes_are_escaped_and_shortened)
{
    scripted_node node([&](const scripted_node::words& w) {
        const std::string odd("-ODD \x1b[31m\0\xff", 12);
        return w[0] == "SET" ? odd + std::string(3000, '!') + "\r\n" : node.polite_answer(w);
    });
    play(redlock({node.url()}, quick_options()), 1,
        [&](scene& s) { return be_refused_with_control_characters(s, node.address()); });
}

// Names that might be confused with each other, or with the counter, channel or hash tag of
// another.
const std::vector<std::string> similar_names{"a", "A", "a ", " a", "a:f", "a:l", "a:", ":a", "a:a",
    "x{y}", "x{y", "xy}", "y", "{y}", "x{}y", "a\n", "a\r\n", std::string("a\0", 2),
    std::string("a\0b", 3), "a*", "a?", "[a]", "holdfast:a", "hf:a", "a\xc2\xa0"};

task hold_all_at_once(scene& s, cluster& c)
{
    co_await connect_all(s.locker(0));
    co_await connect_all(s.locker(1));
    std::map<std::string, lease> all;
    for (const auto& name : similar_names)
        all[name] = co_await lock(s.locker(0), name).acquire();
    BOOST_REQUIRE(all.size() == similar_names.size());
    for (const auto& name : similar_names) {
        const bool everywhere = co_await c.have_copies(name, c.size(), 5s);
        BOOST_TEST(everywhere);
        lease none = co_await lock(s.locker(1), name).try_acquire();
        BOOST_TEST(!none);
    }
    BOOST_TEST(c.keys(0) == similar_names.size());

    std::size_t left = all.size();
    for (auto& [name, held] : all) {
        BOOST_TEST(held.held());
        const release_outcome outcome = co_await held.release();
        BOOST_TEST(outcome == release_outcome::released);
        const bool gone = co_await c.have_copies(name, 0, 5s);
        BOOST_TEST(gone);
        BOOST_TEST(c.keys(0) == --left);
    }
}

BOOST_AUTO_TEST_CASE(row_6_similar_names_never_share_or_cross_keys)
{
    cluster c(3);
    play(c.store(), 2, [&](scene& s) { return hold_all_at_once(s, c); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
