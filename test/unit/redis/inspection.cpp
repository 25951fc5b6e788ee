// What people are told about locks, and how a lock is taken away, with scripted nodes.
#include "unit/redis/inspection_fixture.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using core::inspection_task;
using words = told_node::words;

constexpr auto inspect = inspection_task::inspect;
constexpr auto list = inspection_task::list;

struct connected_fenced : connected_inspection {
    connected_fenced() : connected_inspection(true) {}
};

BOOST_FIXTURE_TEST_SUITE(redlock_inspection, connected_inspection)

BOOST_AUTO_TEST_CASE(the_owner_of_a_majority)
{
    const std::string mine = token(7), other = token(8, 's');
    std::size_t asked = 0;
    answer_all([&](const words& w) {
        if (w[0] == "clients")
            return list_of({blob(record("a.example")), blob("")});
        const std::size_t i = asked++;
        return view(1, i == 2 ? other : mine, 1000 + 100 * static_cast<std::int64_t>(i));
    });
    const auto [reason, r] = ask<resource_report>(inspect, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(r.held);
    BOOST_TEST(r.majority == 2u);
    BOOST_TEST(r.having == 2u);
    BOOST_TEST((r.ttl_left == 1000ms)); // then only one node is left
    BOOST_TEST(!r.without_ttl);
    BOOST_REQUIRE(bool(r.owner));
    BOOST_TEST(!r.owner->foreign);
    BOOST_TEST(r.owner->id == 7u);
    BOOST_TEST((r.owner->since.time_since_epoch() == std::chrono::seconds(wall)));
    BOOST_TEST(r.owner->mark == mine.substr(0, 8));
    BOOST_REQUIRE(bool(r.owner->client));
    BOOST_TEST(r.owner->client->host == "a.example");
    BOOST_TEST(r.owner->client->pid == 42u);
    BOOST_TEST(r.owner->client->program == "shop");
    BOOST_TEST(r.owner->client->client_name == "web");
    BOOST_TEST(r.owner->client_confirmed);
    BOOST_TEST((r.nodes[0].key == key_state::owner));
    BOOST_TEST((r.nodes[2].key == key_state::other));
    BOOST_TEST((r.nodes[2].ttl_left == 1200ms));
    BOOST_TEST(r.nodes[1].address == "node1");
    BOOST_TEST(log(0) == "view 2 A A:holdfast:queue 999 512, "
                         "clients 2 holdfast:client:00000007 holdfast:client:00000008");
}

BOOST_AUTO_TEST_CASE(foreign_values_and_keys_without_an_end)
{
    answer_all([](const words&) { return view(1, "someone", -1); });
    const auto [reason, r] = ask<resource_report>(inspect, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(r.held);
    BOOST_TEST(r.without_ttl);
    BOOST_TEST(!r.ttl_left);
    BOOST_TEST(r.owner.value().foreign);
    BOOST_TEST(r.owner->mark == ""); // a short value would be shown in full
    BOOST_TEST(r.nodes[0].without_ttl);
    BOOST_TEST(log(0) == "view 2 A A:holdfast:queue 999 512"); // there is no record to ask for

    // The right length and a plausible time, but only hexadecimal digits.
    answer_all([](const words&) { return view(1, "0000000000000000000002e7cdc5ae4f", 10); });
    BOOST_TEST(ask<resource_report>(inspect, "A").second.owner.value().foreign);
    // Values of the right form whose time is not plausible.
    for (const std::uint32_t seconds : {0u, 0xffffffffu}) {
        answer_all([&](const words&) { return view(1, token(7, 'r', seconds), 10); });
        BOOST_TEST(ask<resource_report>(inspect, "A").second.owner.value().foreign);
    }
}

BOOST_AUTO_TEST_CASE(a_free_resource)
{
    answer_all([](const words&) { return view(0, "", -2); });
    const auto [reason, r] = ask<resource_report>(inspect, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(!r.held);
    BOOST_TEST(!r.owner);
    BOOST_TEST(!r.queue);
    BOOST_TEST((r.nodes[0].key == key_state::absent));
}

BOOST_AUTO_TEST_CASE(the_longest_queue_is_shown_in_order)
{
    nodes[0].answer = [&](const words& w) {
        return w[0] == "clients" ? list_of({blob(""), blob(""), blob(record("b.example"))})
                                 : view(0, "", -2, {token(3)});
    };
    nodes[1].answer = [&](const words& w) {
        return w[0] == "clients" ? list_of({blob(""), blob(""), blob("")})
                                 : view(0, "", -2, {token(5), token(3), "odd"});
    };
    nodes[2].answer = [&](const words& w) {
        return w[0] == "clients" ? list_of({blob(""), blob(""), blob("")}) : view(1, token(9), 10);
    };
    const auto [reason, r] = ask<resource_report>(inspect, "A");
    BOOST_TEST(!r.held);
    BOOST_TEST(r.having == 1u);
    BOOST_TEST(r.owner.value().id == 9u); // of the only key
    BOOST_REQUIRE(bool(r.queue));
    BOOST_TEST(r.queue->address == "node1");
    BOOST_TEST(r.queue->length == 3u);
    BOOST_REQUIRE(r.queue->waiters.size() == 3u);
    BOOST_TEST(r.queue->waiters[0].id == 5u);
    BOOST_TEST(r.queue->waiters[0].client.value().host == "b.example");
    BOOST_TEST(!r.queue->waiters[1].client);
    BOOST_TEST(r.queue->waiters[2].foreign);
}

// It blocks a lock as any other value does.
BOOST_AUTO_TEST_CASE(an_empty_value_is_a_key)
{
    answer_all([](const words&) { return view(1, "", 500); });
    const auto r = ask<resource_report>(inspect, "A").second;
    BOOST_TEST(r.held);
    BOOST_TEST(r.having == 3u);
    BOOST_TEST(r.owner.value().foreign);
    BOOST_TEST((r.nodes[0].key == key_state::owner));
    nodes[0].answer = nodes[1].answer = [](const words&) {
        return view(0, "", -2);
    };
    BOOST_TEST(ask<resource_report>(inspect, "A").second.having == 1u);
}

// A majority without an answer, without the right, or with other data.
BOOST_AUTO_TEST_CASE(reasons)
{
    const std::string forbidden = "-NOPERM this user has no permissions\r\n";
    const std::string renamed = "-ERR Unknown Redis command called from script\r\n";
    const std::string free = view(0, "", -2), other = view(2, "", -1);
    const auto with = [](const std::string& a, const std::string& b, const std::string& c) {
        inspection_fixture f;
        f.run();
        f.nodes[0].answer = [=](const words&) {
            return a;
        };
        f.nodes[1].answer = [=](const words&) {
            return b;
        };
        f.nodes[2].answer = [=](const words&) {
            return c;
        };
        f.begin(inspect, "A");
        f.pass(1999ms);
        if (a.empty())
            BOOST_TEST(!f.people.next_result()); // it still waits
        f.pass(1ms);
        for (const auto& each : f.pool.stats()) // an error says nothing about locks
            BOOST_TEST(!each.last_error, each.reason);
        return f.result<resource_report>();
    };
    BOOST_TEST((with(free, free, "").first == errc{}));
    const auto [reason, r] = with("", free, "");
    BOOST_TEST((reason == errc::unreachable));
    BOOST_TEST((r.nodes[0].error == make_error_code(errc::no_reply)));
    BOOST_TEST((r.nodes[0].key == key_state::unknown));
    BOOST_TEST((r.nodes[1].key == key_state::absent));
    BOOST_TEST((with(forbidden, forbidden, free).first == errc::permission_denied));
    BOOST_TEST((with(forbidden, renamed, free).first == errc::permission_denied));
    BOOST_TEST((with(forbidden, free, free).first == errc{}));
    BOOST_TEST((with(other, other, free).first == errc::key_conflict));
    BOOST_TEST((with(other, free, free).second.nodes[0].key == key_state::conflict));
}

// Whatever a node answers, only its own connection suffers.
BOOST_AUTO_TEST_CASE(wrong_answers_break_one_connection)
{
    for (const std::string& wrong : {std::string("+OK\r\n"), std::string(":1\r\n"), list_of({}),
             list_of({number(1)}), view(3, "", 0), view(1, "x", -3),
             view(1, "x", std::numeric_limits<std::int64_t>::max()),
             list_of({number(1), blob("x"), number(1), number(2), number(0)}),
             list_of({number(1), blob("x"), number(1), blob(""), number(-1)}),
             list_of(
                 {list_of({number(1), blob("x")}), blob("x"), number(1), blob(""), number(1)})}) {
        inspection_fixture f;
        f.run();
        f.answer_all([](const words&) { return view(0, "", -2); });
        f.nodes[1].answer = [&](const words&) {
            return wrong;
        };
        const auto [reason, r] = f.ask<resource_report>(inspect, "A");
        BOOST_TEST((reason == errc{}));
        BOOST_TEST((r.nodes[1].error == make_error_code(errc::protocol_error)));
        BOOST_TEST(!f.nodes[1].open);
        BOOST_TEST(f.nodes[0].open);
    }
}

// A command-line program asks before its connections are open.
BOOST_AUTO_TEST_CASE(nodes_that_are_not_connected_yet_are_waited_for)
{
    inspection_fixture f;
    f.answer_all([](const words&) { return view(0, "", -2); });
    f.nodes[2].up = false;
    f.begin(inspect, "A");
    f.run();
    BOOST_TEST(!f.people.next_result());
    f.pass(1s);
    f.nodes[2].up = true;
    f.run();
    BOOST_TEST((f.result<resource_report>().second.nodes[2].key == key_state::absent));
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks)
{
    begin(inspect, "A");
    run();
    pool[1].fail(errc::protocol_error, "test", now);
    BOOST_TEST(!people.next_result());
    for (const std::size_t i : {std::size_t(0), std::size_t(2)})
        told_node::give(*pool.connections()[i], view(0, "", -2), now);
    const auto [reason, r] = result<resource_report>();
    BOOST_TEST((reason == errc{}));
    BOOST_TEST((r.nodes[1].error == make_error_code(errc::protocol_error)));
}

BOOST_AUTO_TEST_CASE(a_cancelled_question_has_no_result)
{
    begin(inspect, "A");
    run();
    people.forget(tag);
    for (auto* const c : pool.connections())
        told_node::give(*c, view(0, "", -2), now);
    pass(3s);
    BOOST_TEST(!people.next_result());
    BOOST_TEST((people.wake_at() == core::never));
}

// However many waiters there are, and the owner is the first who is asked about.
BOOST_AUTO_TEST_CASE(records_are_waited_for_two_seconds_in_all)
{
    words waiters;
    for (std::uint32_t id = 1; id <= 1'000; ++id)
        waiters.push_back(token(id));
    const std::string seen = view(1, token(5'000), 10, waiters);
    answer_all([&](const words& w) { return w[0] == "view" ? seen : std::string(); });
    begin(inspect, "A");
    words none(64, blob(""));
    for (int i = 0; i < 3; ++i) { // each answer takes 0.6 s
        pass(600ms);
        for (auto* const c : pool.connections())
            told_node::give(*c, list_of(none), now);
    }
    pass(199ms);
    BOOST_TEST(!people.next_result());
    pass(1ms);
    const auto [reason, r] = result<resource_report>();
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(r.queue.value().waiters.size() == 1'000u);
    const std::string all = log(0);
    BOOST_TEST(
        all.find("clients 64 holdfast:client:00001388 holdfast:client:00000001 ") != all.npos);
}

BOOST_FIXTURE_TEST_CASE(tokens_of_fenced_mode, connected_fenced)
{
    std::int64_t ballot = 100;
    answer_all([&](const words& w) {
        return w[0] == "clients" ? list_of({blob("")})
                                 : view(1, token(7), 10, {}, std::to_string(++ballot));
    });
    const auto r = ask<resource_report>(inspect, "A").second;
    BOOST_TEST(r.fence.value() == 103u * 128 + 127); // the last token of the largest ballot
    BOOST_TEST(r.nodes[0].fence.value() == 101u * 128 + 127);
    BOOST_TEST(log(0) == "view 3 hf:l:A hf:q:A hf:f 999 512 8865, clients 1 hf:c:00000007");
}

std::string step(const std::string& cursor, const std::vector<std::string>& rest, int left_out = 0)
{
    std::vector<std::string> all{blob(cursor), number(left_out)};
    for (const std::string& each : rest)
        all.push_back(blob(each));
    return list_of(all);
}

BOOST_AUTO_TEST_CASE(lists_are_read_in_steps_and_merged)
{
    const std::string mine = "500 " + token(7), other = "700 " + token(8, 's');
    answer_all([&](const words& w) {
        if (w[0] == "clients")
            return list_of({blob(""), blob(record("a.example"))});
        if (w[2] == "0")
            return step("12", {"a*[2", mine, "b", mine, "a*[x", "9 " + std::string(32, '!')});
        return step("0", {"a*[1", other, "a*[2", mine, "a*[gone", "-2 " + token(7)});
    });
    nodes[2].answer = [](const words& w) {
        return w[0] == "clients" ? list_of({blob(""), blob("")}) : step("0", {});
    };
    const auto [reason, all] = ask<lock_list>(list, "a*[");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(all.complete);
    BOOST_REQUIRE(all.locks.size() == 2u);
    BOOST_TEST(all.locks[0].resource == "a*[1");
    BOOST_TEST(all.locks[0].owner.value().id == 8u);
    BOOST_TEST(all.locks[1].resource == "a*[2");
    BOOST_TEST(all.locks[1].held);
    BOOST_TEST(all.locks[1].having == 2u);
    BOOST_TEST((all.locks[1].ttl_left == 500ms));
    BOOST_TEST(all.locks[1].owner->client.value().host == "a.example");
    BOOST_TEST(log(2) == "scan 0 0 a\\*\\[* 32 512, clients 2 holdfast:client:00000008 "
                         "holdfast:client:00000007");
}

// Half of a node's time is left to locks.
BOOST_AUTO_TEST_CASE(a_list_pauses_for_as_long_as_the_node_has_worked)
{
    begin(list, "");
    run();
    now += 30ms;
    for (auto* const c : pool.connections())
        told_node::give(*c, step("1", {}), now);
    answer_all([](const words&) { return step("0", {}); });
    pass(29ms);
    BOOST_TEST(!people.next_result());
    pass(1ms);
    BOOST_TEST(result<lock_list>().second.complete);
}

BOOST_AUTO_TEST_CASE(lists_end)
{
    begin(list, "");
    run();
    for (int i = 1; i <= 545; ++i) { // each step takes 1 s and a pause of 100 ms
        now += 1s;
        for (auto* const c : pool.connections())
            told_node::give(*c, step(std::to_string(i), {}), now);
        pass(100ms);
    }
    BOOST_TEST(!people.next_result());
    pass(500ms);
    const auto [reason, all] = result<lock_list>(); // after ten minutes
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(!all.complete);
}

// In 51 steps of 400 names; `w[2]` is the cursor.
std::string many_names(const words& w, const std::string& value, std::size_t size, bool backwards)
{
    const int at = std::stoi(w[2]);
    words names;
    for (int i = 0; i < 400; ++i) {
        const std::string n = std::to_string(100'000 + (backwards ? 50 - at : at) * 400 + i);
        names.insert(names.end(), {n + std::string(size - n.size(), 'n'), value});
    }
    return step(at == 50 ? "0" : std::to_string(at + 1), names);
}

// What is listed is judged by the copies of all nodes, in whatever order they come.
BOOST_AUTO_TEST_CASE(a_list_leaves_out_what_is_too_much)
{
    const std::string value = "500 " + token(7);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        nodes[i].answer = [&value, i](const words& w) {
            return w[0] == "clients" ? list_of({blob("")}) : many_names(w, value, 8, i == 1);
        };
    const auto [reason, all] = ask<lock_list>(list, "");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(!all.complete);
    BOOST_TEST(all.locks.size() == 20'000u);
    BOOST_TEST(std::all_of(all.locks.begin(), all.locks.end(),
        [](const listed_lock& each) { return each.having == 3; }));

    answer_all([&](const words& w) {
        return w[0] == "clients" ? list_of({blob("")}) : many_names(w, value, 512, false);
    });
    const lock_list cut = ask<lock_list>(list, "").second;
    BOOST_TEST(!cut.complete);
    BOOST_TEST(cut.locks.size() == 8u * 1024 * 1024 / (512 + 3 * redis::longest_listed_value));
}

BOOST_AUTO_TEST_CASE(wrong_steps)
{
    answer_all([](const words&) { return step("0", {}, 3); });
    BOOST_TEST(!ask<lock_list>(list, "").second.complete); // a node has left keys out
    for (const std::string& wrong : {step("", {}), step("x", {}), step("0", {"A"}),
             step("0", {"A", "x"}), step("0", {"A", "-9 x"}), list_of({blob("0")}),
             step("0", {std::string(513, 'A'), "5 " + token(7)}),
             step("0", {"A", "5 " + std::string(redis::longest_listed_value + 1, 'x')})}) {
        inspection_fixture f;
        f.run();
        f.answer_all([&](const words&) { return wrong; });
        BOOST_TEST((f.ask<lock_list>(list, "").first == errc::unreachable));
        BOOST_TEST(!f.nodes[0].open);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
