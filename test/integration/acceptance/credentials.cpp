// Rows 17 and 18: logins and rights.
#include "integration/acceptance/acceptance.hpp"
#include "support/fault_proxy.hpp"

#include <boost/test/data/test_case.hpp>

#include <ostream>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_credentials)

const std::string right = "right-password", wrong = "not-the-password";

// A login that some nodes refuse, and the way they refuse it.
struct refusal {
    const char* name;
    void (*make)(redis_server&); // makes the node refuse
    errc error;
    const char* cause;
    friend std::ostream& operator<<(std::ostream& out, const refusal& r) { return out << r.name; }
};

void allow(redis_server& node, const std::vector<std::string>& rules)
{
    std::vector<std::string> words{
        "ACL", "SETUSER", "worker", "reset", "on", ">" + right, "~*", "+@all"};
    words.insert(words.end(), rules.begin(), rules.end());
    BOOST_REQUIRE(node.command(words) == "OK");
}

const std::vector<refusal> refusals{
    {"wrong password",
        [](redis_server& node) {
            allow(node, {"resetpass", ">another-password"});
        },
        errc::authentication_failed, "WRONGPASS"},
    {"unknown user",
        [](redis_server& node) {
            node.command({"ACL", "DELUSER", "worker"});
        },
        errc::authentication_failed, "WRONGPASS"},
    {"disabled user", [](redis_server& node) { allow(node, {"off"}); }, errc::authentication_failed,
        "WRONGPASS"},
    {"may not set", [](redis_server& node) { allow(node, {"-set"}); }, errc::permission_denied,
        "NOPERM"},
    {"may not load scripts", [](redis_server& node) { allow(node, {"-script"}); },
        errc::permission_denied, "NOPERM"},
    {"may not get", [](redis_server& node) { allow(node, {"-get"}); }, errc::permission_denied,
        "a lease needs GET: NOPERM"},
    {"may not delete", [](redis_server& node) { allow(node, {"-del"}); }, errc::permission_denied,
        "a lease needs DEL: NOPERM"},
    {"may not set a ttl", [](redis_server& node) { allow(node, {"-pexpire"}); },
        errc::permission_denied, "a lease needs PEXPIRE: NOPERM"},
    {"may not call scripts", [](redis_server& node) { allow(node, {"-evalsha"}); },
        errc::permission_denied, "a lease needs EVALSHA: NOPERM"},
    {"may not send scripts", [](redis_server& node) { allow(node, {"-eval"}); },
        errc::permission_denied, "a lease needs EVAL: NOPERM"},
    {"may not use this key",
        [](redis_server& node) {
            allow(node, {"resetkeys", "~another:*"});
        },
        errc::permission_denied, "NOPERM"},
};

backend store_for(const cluster& c, const std::string& login)
{
    std::vector<endpoint> nodes;
    for (const auto& node : c.nodes)
        nodes.emplace_back(url_for(node, login));
    return redlock(nodes, quick_options());
}

task work_without_one(scene& s, std::string address, const refusal& r)
{
    co_await acquire_beside_a_fault(s);
    lease held = co_await s.lock(0).acquire();
    co_await expect_blamed_soon(s.locker(), address, r.cause);
    BOOST_TEST(s.locker().stats().nodes[0].last_error == r.error);
    expect_no_secrets(all_texts(s.locker().stats()), {right});
    co_await held.release();
}

task fail_without_two(scene& s, std::string first, std::string second, const refusal& r)
{
    const error_code why = co_await fail_at_once(s.lock(0));
    BOOST_TEST(why == r.error, why.message());
    BOOST_TEST(why == condition::misconfigured);
    expect_blamed(s.locker().stats(), first, r.cause, {right});
    expect_blamed(s.locker().stats(), second, r.cause, {right});
}

BOOST_DATA_TEST_CASE(row_17_a_login_that_is_refused, refusals, each)
{
    cluster c(3);
    for (auto& node : c.nodes)
        allow(node, {});
    const auto store = store_for(c, "worker:" + right);
    const auto first = address_of(c.nodes[0]), second = address_of(c.nodes[1]);
    each.make(c.nodes[0]);
    play(store, 2, [&](scene& s) { return work_without_one(s, first, each); });
    BOOST_TEST(c.nodes[1].command({"DBSIZE"}) == "0");
    each.make(c.nodes[1]);
    play(store, 1, [&](scene& s) { return fail_without_two(s, first, second, each); });
    BOOST_TEST(c.empty_within(0s)); // the grant of the third node was deleted
}

task lose_a_right(scene& s, cluster& c)
{
    lease held = co_await s.lock(0, unrenewed(60s)).acquire();
    for (auto& node : c.nodes)
        allow(node, {"-get"});
    auto [ec] = co_await held.extend(no_throw);
    BOOST_TEST(bool(ec));
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::unconfirmed); // not `expired`: the keys exist
    const auto nodes = s.locker().stats().nodes;
    BOOST_TEST(std::count_if(nodes.begin(), nodes.end(), [](const node_stats& node) {
        return node.last_error == errc::permission_denied;
    }) >= 2);
    expect_no_secrets(all_texts(s.locker().stats()), {right});
}

// A key that may not be read any more is not taken for a key of another client.
BOOST_AUTO_TEST_CASE(row_17_a_right_that_is_revoked_during_a_lease)
{
    cluster c(3);
    for (auto& node : c.nodes)
        allow(node, {});
    play(store_for(c, "worker:" + right), 1, [&](scene& s) { return lose_a_right(s, c); });
}

// A command that the server has renamed or disabled.
BOOST_AUTO_TEST_CASE(row_17_a_command_that_is_renamed)
{
    redis_server node({"--rename-command", "GET", "FETCH"});
    scene s(redlock({node.url()}, quick_options()));
    run(s.io, [](scene& all) -> task {
        const error_code why = co_await fail_at_once(all.lock(0));
        BOOST_TEST(why == errc::permission_denied, why.message());
    }(s));
    expect_blamed(s.locker().stats(), address_of(node), "a lease needs GET: ERR unknown command");
    s.finish();
}

task blame_for_a_late_refusal(scene& s, std::string address, fault_proxy& way)
{
    co_await connect_all(s.locker());
    way.set({.to_client = {.held = true}});
    co_await acquire_and_release(s.lock(0));
    way.set({});
    const bool answered = co_await becomes_true([&] {
        const auto text = describe_nodes(s.locker().stats());
        return text.find("NOPERM") != text.npos;
    });
    BOOST_TEST(answered);
    expect_blamed(s.locker().stats(), address, "NOPERM", {right});
}

// The node refuses to set a key, and then reports that there is none to delete. The refusal must
// still be reported.
BOOST_AUTO_TEST_CASE(row_17_a_late_refusal_is_reported)
{
    cluster c(3);
    for (auto& node : c.nodes)
        allow(node, {});
    allow(c.nodes[0], {"-set"});
    fault_proxy way(c.nodes[0].port());
    const auto login = "worker:" + right + "@";
    const auto address = "127.0.0.1:" + std::to_string(way.port());
    const auto store =
        redlock({"redis://" + login + address, url_for(c.nodes[1], "worker:" + right),
                    url_for(c.nodes[2], "worker:" + right)},
            quick_options());
    play(store, 1, [&](scene& s) { return blame_for_a_late_refusal(s, address, way); });
}

BOOST_AUTO_TEST_CASE(row_17_no_password_where_one_is_needed)
{
    cluster c(3, {"--requirepass", right});
    scene s(redlock(
        {url_for(c.nodes[0], ":" + right), c.nodes[1].url(), c.nodes[2].url()}, quick_options()));
    run(s.io, [](scene& all) -> task {
        const error_code why = co_await fail_at_once(all.lock(0));
        BOOST_TEST(why == errc::authentication_failed, why.message());
    }(s));
    expect_blamed(s.locker().stats(), address_of(c.nodes[1]), "NOAUTH", {right});
    s.finish();
}

task outlive_a_rotation(scene& s, cluster& c, bool cut)
{
    const auto options = well_guarded(3s);
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, options).acquire();
    c.command({"CONFIG", "SET", "requirepass", "next-password"});

    // Connections that are logged in remain so: renewals go on.
    const auto renewals = s.locker().stats().renewals;
    const bool renewed =
        co_await becomes_true([&] { return s.locker().stats().renewals >= renewals + 4; });
    BOOST_TEST(renewed);
    BOOST_TEST(held.held());
    if (!cut) {
        co_await acquire_and_release(lock(s.locker(), "another"));
        co_await held.release();
        co_return;
    }

    c.command({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
    auto [ec] = co_await held.lost(no_throw);
    BOOST_TEST(ec == errc::lease_lost, ec.message());
    BOOST_TEST(
        (steady::now() < held.valid_until())); // before the end, but not earlier than necessary
    BOOST_TEST(held.held());
    const error_code why = co_await fail_at_once(lock(s.locker(), "another"));
    BOOST_TEST(why == errc::authentication_failed, why.message());
    for (const auto& node : c.nodes)
        expect_blamed(s.locker().stats(), address_of(node), "WRONGPASS", {right, "next-password"});
}

// Without redlock_options::credentials, the new password needs a new locker.
BOOST_AUTO_TEST_CASE(row_18_a_password_that_is_changed_during_a_lease)
{
    for (const bool cut : {false, true}) {
        cluster c(3, {"--requirepass", right});
        c.command({"AUTH", right});
        play(store_for(c, ":" + right), 1, [&](scene& s) { return outlive_a_rotation(s, c, cut); });
        BOOST_TEST(c.empty_within(cut ? 3s : 0s));
        play(store_for(c, ":next-password"), 2, acquire_beside_a_fault);
    }
}

task follow_a_rotation(scene& s, cluster& c, std::string& present)
{
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0).acquire();
    present = "next-password";
    c.command({"CONFIG", "SET", "requirepass", present});
    c.command({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
    const bool connected_again = co_await becomes_true([&s] {
        const auto nodes = s.locker().stats().nodes;
        return std::all_of(nodes.begin(), nodes.end(),
            [](const node_stats& each) { return each.connected && each.connects == 2; });
    });
    BOOST_TEST(connected_again);
    co_await held.extend();
    BOOST_TEST(held.held());
    co_await held.release();
}

BOOST_AUTO_TEST_CASE(row_18_a_provider_of_credentials_is_asked_at_each_connection)
{
    cluster c(3, {"--requirepass", right});
    c.command({"AUTH", right});
    std::string present(right);
    std::vector<std::string> asked_for;
    auto options = quick_options();
    options.credentials = [&](const endpoint& node) {
        asked_for.push_back(node.address());
        return credentials{.password = present};
    };
    std::vector<endpoint> nodes;
    for (const auto& node : c.nodes)
        nodes.emplace_back(url_for(node, ":not-used"));
    play(redlock(nodes, options), 1, [&](scene& s) { return follow_a_rotation(s, c, present); });
    BOOST_TEST(asked_for.size() == 6u);
    for (const auto& node : c.nodes)
        BOOST_TEST(std::count(asked_for.begin(), asked_for.end(), address_of(node)) == 2);
    BOOST_TEST(c.empty_within(0s));
}

BOOST_AUTO_TEST_CASE(row_17_a_provider_of_credentials_that_throws)
{
    cluster c(1, {"--requirepass", right});
    auto options = quick_options();
    options.credentials = [](const endpoint&) -> credentials {
        throw std::runtime_error("the vault says s3cret");
    };
    play(redlock(endpoints(c.nodes), options), 1, [&](scene& s) -> task {
        const error_code why = co_await fail_at_once(s.lock(0));
        BOOST_TEST(why == errc::authentication_failed, why.message());
        expect_blamed(s.locker().stats(), address_of(c.nodes[0]), "the program gave no credentials",
            {"s3cret", "vault"});
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
