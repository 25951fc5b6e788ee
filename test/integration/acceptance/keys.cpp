// Rows 23 and 38: keys of other programs, and leases that are not held any more.
#include "integration/acceptance/acceptance.hpp"
#include "support/call.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_keys)

// Data of another program under the key of a lock.
struct foreign_data {
    std::vector<std::string> write, read;
    std::string content;
};

const std::vector<foreign_data> all_foreign_data{
    {{"RPUSH", "", "a", "b"}, {"LRANGE", "", "0", "-1"}, "a\nb"},
    {{"HSET", "", "field", "value"}, {"HGETALL", ""}, "field\nvalue"},
    {{"ZADD", "", "1", "member"}, {"ZRANGE", "", "0", "-1"}, "member"},
};

std::vector<std::string> at_key(std::vector<std::string> words, const std::string& key)
{
    words[1] = key;
    return words;
}

void expect_untouched(cluster& c, const std::string& key, const foreign_data& data)
{
    for (auto& node : c.nodes) {
        BOOST_TEST(node.command(at_key(data.read, key)) == data.content);
        BOOST_TEST(node.command({"PTTL", key}) == "-1");
    }
}

task keep_off(scene& s, cluster& c, const foreign_data& data)
{
    c.command(at_key(data.write, s.resource));
    const error_code why = co_await fail_at_once(s.lock(0));
    BOOST_TEST(why == errc::key_conflict, why.message());
    BOOST_TEST(why == condition::misconfigured);
    const std::string said = describe_nodes(s.locker().stats());
    BOOST_TEST(said.find("the key " + s.resource + " is no lock: ") != said.npos, said);
    lease none = co_await s.lock(0).try_acquire(); // a single attempt does not report the reason
    BOOST_TEST(!none);
    expect_untouched(c, s.resource, data);
    const lock another(s.locker(), s.resource + " another");
    co_await acquire_and_release(another);
    expect_no_secrets(all_texts(s.locker().stats(), why));
}

BOOST_AUTO_TEST_CASE(row_23_a_key_of_another_type_is_not_touched)
{
    for (const auto& data : all_foreign_data) {
        cluster c(3);
        play(c.store(), 1, [&](scene& s) { return keep_off(s, c, data); });
    }
}

task find_it_instead_of_the_lock(scene& s, cluster& c, const foreign_data& data)
{
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, with_ttl(2s)).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(everywhere);
    c.command({"DEL", s.resource});
    c.command(at_key(data.write, s.resource));
    auto [ec] = co_await held.lost(no_throw);
    BOOST_TEST(ec == errc::lease_lost, ec.message());
    auto [none, outcome] = co_await held.release(no_throw);
    BOOST_TEST(!none, none.message());
    BOOST_TEST(outcome == release_outcome::expired);
    expect_untouched(c, s.resource, data);
}

BOOST_AUTO_TEST_CASE(row_23_a_key_of_another_type_in_place_of_our_key_is_not_touched)
{
    cluster c(3);
    for (const auto& data : all_foreign_data)
        play(c.store(), 1, [&](scene& s) { return find_it_instead_of_the_lock(s, c, data); });
}

void expect_on_all_nodes(cluster& c, const std::string& key, const std::string& value)
{
    for (auto& node : c.nodes)
        BOOST_TEST(node.command({"GET", key}) == value);
}

task expect_not_held(lease& held)
{
    BOOST_TEST(!held.held());
    auto [released, outcome] = co_await held.release(no_throw);
    BOOST_TEST(released == errc::not_held, released.message());
    BOOST_TEST(outcome == release_outcome::expired);
    auto [extended] = co_await held.extend(no_throw);
    BOOST_TEST(extended == errc::not_held, extended.message());
    auto [lost] = co_await held.lost(no_throw);
    BOOST_TEST(lost == errc::not_held, lost.message());
}

task release_twice(scene& s, cluster& c)
{
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0).acquire();
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
    const bool gone = co_await c.have_copies(s.resource, 0, 5s);
    BOOST_TEST(gone);
    c.command({"SET", s.resource, "next holder", "PX", "60000"});
    co_await expect_not_held(held);
    co_await expect_not_held(held);
    expect_on_all_nodes(c, s.resource, "next holder");

    // Two releases at the same time: the second one is too late.
    c.command({"DEL", s.resource});
    held = co_await s.lock(0).acquire();
    call<release_outcome> first, second;
    held.release(first.token());
    held.release(second.token());
    co_await becomes_true([&] { return first.done() && second.done(); });
    BOOST_TEST(!first.error(), first.error().message());
    BOOST_TEST(second.error() == errc::not_held, second.error().message());
}

BOOST_AUTO_TEST_CASE(row_38_a_second_release_and_what_follows_a_release)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return release_twice(s, c); });
}

task use_after_the_end(scene& s, cluster& c)
{
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, unrenewed(1s)).acquire();
    const bool ended = co_await becomes_true([&] { return !held.held(); });
    BOOST_TEST(ended);
    const bool expired = co_await becomes_true([&] { return c.copies(s.resource) == 0; });
    BOOST_TEST(expired);
    c.command({"SET", s.resource, "next holder", "PX", "60000"});

    auto [extended] = co_await held.extend(no_throw);
    BOOST_TEST(extended == errc::lease_lost, extended.message());
    auto [late, outcome] = co_await held.release(no_throw);
    BOOST_TEST(!late, late.message());
    BOOST_TEST(outcome == release_outcome::expired);
    co_await expect_not_held(held);
    expect_on_all_nodes(c, s.resource, "next holder");
}

BOOST_AUTO_TEST_CASE(row_38_release_and_extend_after_the_loss)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return use_after_the_end(s, c); });
}

task use_other_objects(scene& s, cluster& c)
{
    co_await connect_all(s.locker());
    lease first = co_await s.lock(0).acquire();
    lease moved = std::move(first);
    co_await expect_not_held(first); // NOLINT: the state of a moved-from lease is documented
    BOOST_TEST(moved.held());
    co_await moved.release();

    lease second = co_await s.lock(1).acquire();
    co_await expect_not_held(moved); // an older lease on the same resource
    moved = lease();
    BOOST_TEST(second.held());
    BOOST_TEST(c.copies(s.resource) >= c.majority());
    const release_outcome outcome = co_await second.release();
    BOOST_TEST(outcome == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(row_38_release_through_another_lease_object)
{
    cluster c(3);
    play(c.store(), 2, [&](scene& s) { return use_other_objects(s, c); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
