// How a lock is taken away, with scripted nodes.
#include "unit/redis/inspection_fixture.hpp"

#include <tuple>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using words = told_node::words;

constexpr auto force = core::inspection_task::force_release;

BOOST_FIXTURE_TEST_SUITE(redlock_inspection_taking, connected_inspection)

// The holder is told, then the key is deleted; the queue's node hands it off.
BOOST_AUTO_TEST_CASE(a_lock_is_taken_away)
{
    const std::string mine = token(7), other = token(8, 's');
    const auto node = [&](std::string seen) {
        return [=](const words& w) -> std::string {
            if (w[0] == "clients")
                return list_of({blob(record("a.example"))});
            if (w[0] == "PUBLISH")
                return number(1);
            return w[0] == "view" ? seen : number(1);
        };
    };
    nodes[0].answer = node(view(1, mine, 10));
    nodes[1].answer = node(view(1, mine, 10, {token(8, 'w')}));
    nodes[2].answer = node(view(1, other, 10));
    const auto [reason, done] = ask<forced_release>(force, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(done.told);
    BOOST_TEST(done.deleted == 2u);
    BOOST_TEST(done.owner.value().client.value().host == "a.example");
    const std::string look = "view 2 A A:holdfast:queue 999 512, clients 1 "
                             "holdfast:client:00000007"; // no other is needed
    const std::string tell = std::string(", PUBLISH ") + channel + " " + mine + " is taken away";
    BOOST_TEST(log(0) == look + tell + ", release 1 A " + mine);
    BOOST_TEST(log(1) == look + tell + ", pass_on 2 A A:holdfast:queue " + mine + " 500 ");
    BOOST_TEST(log(2) == look); // it may belong to an attempt that relies on it
}

BOOST_AUTO_TEST_CASE(without_a_queue_any_node_may_hand_off)
{
    answer_all([&](const words& w) -> std::string {
        if (w[0] == "clients")
            return list_of({blob("")});
        return w[0] == "view" ? view(1, token(7), 10) : number(1);
    });
    const auto [reason, done] = ask<forced_release>(force, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(!done.told); // its channel is not known
    BOOST_TEST(done.deleted == 3u);
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST(log(i).ends_with(", pass_on 2 A A:holdfast:queue " + token(7) + " 500 "));
}

BOOST_AUTO_TEST_CASE(what_is_not_held_is_not_taken_away)
{
    answer_all([&](const words& w) -> std::string {
        if (w[0] == "clients")
            return list_of({blob("")});
        return w[0] == "view" ? view(0, "", -2) : number(1);
    });
    nodes[0].answer = [&](const words& w) -> std::string {
        return w[0] == "view" ? view(1, token(7), 10) : list_of({blob("")});
    };
    auto [reason, done] = ask<forced_release>(force, "A");
    BOOST_TEST((reason == errc::not_held));
    BOOST_TEST(done.deleted == 0u);
    BOOST_TEST(log(0).find("release") == std::string::npos);

    // But a key that never ends is no attempt.
    nodes[0].answer = [&](const words& w) -> std::string {
        return w[0] == "view" ? view(1, "left over", -1) : number(1);
    };
    std::tie(reason, done) = ask<forced_release>(force, "A");
    BOOST_TEST((reason == errc::not_held));
    BOOST_TEST(done.deleted == 1u);
    BOOST_TEST(log(0).ends_with("pass_on 2 A A:holdfast:queue left over 500 "));
}

BOOST_AUTO_TEST_CASE(a_key_with_an_empty_value_is_taken_away)
{
    answer_all([](const words& w) { return w[0] == "view" ? view(1, "", 500) : number(1); });
    const auto [reason, done] = ask<forced_release>(force, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(done.deleted == 3u);
    BOOST_TEST(log(0).ends_with("pass_on 2 A A:holdfast:queue  500 "));
}

BOOST_AUTO_TEST_CASE(nothing_is_taken_away_without_a_majority)
{
    const auto held = [&](const words& w) -> std::string {
        return w[0] == "clients" ? list_of({blob("")}) : view(1, token(7), 10);
    };
    nodes[0].answer = held;
    begin(force, "A");
    pass(2s);
    BOOST_TEST((result<forced_release>().first == errc::unreachable));
    BOOST_TEST(log(0) == "view 2 A A:holdfast:queue 999 512");

    // A majority has the key, and then is silent.
    inspection_fixture f;
    f.run();
    f.answer_all([&](const words& w) -> std::string {
        return w[0] == "view" || w[0] == "clients" ? held(w) : std::string();
    });
    f.begin(force, "A");
    f.pass(1999ms);
    BOOST_TEST(!f.people.next_result());
    f.pass(1ms);
    BOOST_TEST((f.result<forced_release>().first == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(only_channels_of_lockers_are_told)
{
    answer_all([&](const words& w) -> std::string {
        if (w[0] == "clients")
            return list_of({blob(record("a", "__keyevent@0__:expired"))});
        return w[0] == "view" ? view(1, token(7), 10) : number(1);
    });
    BOOST_TEST(!ask<forced_release>(force, "A").second.told);
    BOOST_TEST(log(0).find("PUBLISH") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
