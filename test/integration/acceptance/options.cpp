// Rows 1 to 3, 7, 16 and 24: invalid settings are refused at once. The message names the setting.
#include "integration/acceptance/acceptance.hpp"

#include <poll.h>

#include <limits>
#include <stdexcept>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_options)

template <class Call>
std::string objection(Call call)
{
    try {
        call();
    } catch (const std::invalid_argument& refusal) {
        return refusal.what();
    }
    return {};
}

std::string objection_to(locker& owner, const lock_options& options)
{
    return objection([&] { holdfast::lock(owner, "resource", options); });
}

void expect_mentioned(const std::string& text, std::initializer_list<std::string_view> parts)
{
    BOOST_TEST(!text.empty(), "it was accepted");
    for (const auto part : parts)
        BOOST_TEST(text.find(part) != text.npos, "\"" << part << "\" is not in: " << text);
}

BOOST_AUTO_TEST_CASE(row_1_zero_or_negative_ttl)
{
    scene s(memory());
    expect_mentioned(objection_to(s.locker(), with_ttl(0ms)), {"ttl is 0 ms", "20 ms"});
    expect_mentioned(objection_to(s.locker(), with_ttl(-1ms)), {"ttl is -1 ms"});
    const auto least = std::chrono::milliseconds::min();
    expect_mentioned(objection_to(s.locker(), with_ttl(least)), {"ttl is -9223372036854775808"});
    BOOST_TEST(s.locker().stats().attempts == 0u); // no attempt was made
    s.finish();
}

BOOST_AUTO_TEST_CASE(row_2_ttl_too_short)
{
    scene s(memory());
    auto options = with_ttl(100ms);
    options.drift = 60ms;
    options.guard = 20ms;
    expect_mentioned(
        objection_to(s.locker(), options), {"ttl is 100 ms", "must be longer than", "114 ms"});
    options.drift = 101ms;
    expect_mentioned(objection_to(s.locker(), options), {"drift is 101 ms", "to 100 ms"});
    s.finish();
}

// An answer at the end of the node timeout could never give a lease; waiting for it would be
// useless.
BOOST_AUTO_TEST_CASE(row_2_ttl_not_longer_than_drift_and_node_timeout)
{
    auto options = quick_options();
    options.node_timeout = 1s;
    scene s(redlock({"redis://127.0.0.1:1"}, options));
    expect_mentioned(objection_to(s.locker(), with_ttl(1s)), {"node_timeout", "1012 ms"});
    expect_mentioned(objection_to(s.locker(), with_ttl(1012ms)), {"node_timeout", "1013 ms"});
    BOOST_TEST(objection_to(s.locker(), with_ttl(1100ms)) == "");
    s.finish();
}

BOOST_AUTO_TEST_CASE(row_3_ttl_too_long)
{
    scene s(memory());
    const auto greatest = std::chrono::milliseconds::max();
    expect_mentioned(objection_to(s.locker(), with_ttl(24h + 1ms)), {"ttl is 86400001 ms"});
    expect_mentioned(objection_to(s.locker(), with_ttl(greatest)), {"ttl is 9223372036854775807"});
    s.finish();
}

task use_the_largest_settings(scene& s, cluster& c)
{
    auto options = with_ttl(24h);
    options.max_hold = forever - 1ms;
    options.wait = forever - 1ms;
    co_await connect_all(s.locker(0));
    co_await connect_all(s.locker(1));
    lease held = co_await s.lock(0, options).acquire();
    BOOST_TEST((held.valid_until() > steady::now() + 23h));
    BOOST_TEST(std::stoll(c.nodes[0].command({"PTTL", s.resource})) > 86'000'000);
    lease none = co_await s.lock(1, options).try_acquire();
    BOOST_TEST(!none);
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

// No sum overflows within these limits.
BOOST_AUTO_TEST_CASE(row_3_the_largest_settings_work)
{
    cluster c(1);
    play(c.store(), 2, [&](scene& s) { return use_the_largest_settings(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

BOOST_AUTO_TEST_CASE(row_7_no_nodes_and_too_many)
{
    expect_mentioned(objection([] { redlock({}); }), {"no nodes"});
    std::vector<endpoint> sixteen;
    for (int i = 0; i < 16; ++i)
        sixteen.emplace_back("redis://127.0.0.1:" + std::to_string(7000 + i));
    expect_mentioned(objection([&] { redlock(sixteen); }), {"16 nodes", "at most 15"});
}

// Without the settings of TLS, nothing is sent in plain text instead. For certificates that are
// refused see integration/tls.cpp.
BOOST_AUTO_TEST_CASE(row_16_tls_without_settings_is_refused_and_nothing_is_sent_in_plain_text)
{
    const int listener = open_socket();
    auto address = loopback(0);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    BOOST_REQUIRE(::bind(listener, generic, size) == 0);
    BOOST_REQUIRE(::listen(listener, 5) == 0);
    BOOST_REQUIRE(::getsockname(listener, generic, &size) == 0);

    const auto where = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    const auto text = objection([&] { redlock({"rediss://user:s3cret@" + where}); });
    expect_mentioned(text, {where, "rediss", "redlock_options::tls is not set"});
    expect_no_secrets(text, {"s3cret", "user"});

    pollfd waiting{.fd = listener, .events = POLLIN, .revents = 0};
    BOOST_TEST(::poll(&waiting, 1, 0) == 0); // no connection was opened
    ::close(listener);
}

task hold_beside_text(scene& s, cluster& c)
{
    c.command({"SET", s.resource + ":f", "some text"});
    lease held = co_await s.lock(0).acquire();
    BOOST_TEST(!held.fence());
    co_await held.release();
    BOOST_TEST(c.nodes[0].command({"GET", s.resource + ":f"}) == "some text");
}

// Without fencing there are no counters, so none can be spoilt. Spoilt counters are tested in
// integration/fencing.cpp.
BOOST_AUTO_TEST_CASE(row_24_plain_mode_has_no_counter)
{
    cluster c(1);
    play(c.store(), 1, [&](scene& s) { return hold_beside_text(s, c); });
    BOOST_TEST(c.nodes[0].command({"DBSIZE"}) == "1");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
