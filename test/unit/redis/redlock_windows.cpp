// Clients that poll, beside clients that hand a resource off in the queue: from time to time it is
// left to the polling ones for a while.
#include "unit/redis/queue_fixture.hpp"

#include "redis/node/scripts.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

struct window_fixture : queue_fixture {
    window_fixture() : queue_fixture(3)
    {
        a = queue_node_without_waiters();
        terms.ttl = 10s;
        terms.drift = 102ms;
        terms.polling = {.window_ms = 200, .period_ms = 5000};
        for (model_node& n : nodes)
            n.commands();
    }

    // A client that does not use the queue; true if it has the key on all nodes.
    bool poll(const std::string& ttl = "20")
    {
        std::size_t granted = 0;
        for (std::size_t i = 0; i < nodes.size(); ++i)
            granted += reply(i, {"SET", "A", "stranger", "NX", "PX", ttl}) == "+OK\r\n" ? 1u : 0u;
        return granted == nodes.size();
    }
    bool released_for_a_window()
    {
        const std::string said = nodes[a].commands();
        return said.find("PASS A for a window") != said.npos;
    }

    std::size_t a = 0;
};

BOOST_FIXTURE_TEST_SUITE(redlock_windows, window_fixture)

// The queue waits for the end of the window, and is served then.
BOOST_AUTO_TEST_CASE(a_process_that_ends_its_turns_leaves_a_window)
{
    const auto first = acquire(7, 'x');
    ask_in_turn(8, 'y');
    core->queue().leave_open(first);
    core->release(first, now);
    run();
    BOOST_TEST(events() == "7 released");
    BOOST_TEST(released_for_a_window());
    for (int i = 0; i < 3; ++i) {
        pass(60ms);
        BOOST_TEST(events() == "");
        BOOST_TEST(poll());
    }
    pass(19ms);
    BOOST_TEST(events() == "");
    pass(24ms);
    BOOST_TEST(events().starts_with("8 granted"));
    BOOST_TEST(holders('y') == 3u);
}

// No second window is opened in the same period, whichever process asks.
BOOST_AUTO_TEST_CASE(one_window_in_a_period)
{
    reply(a, {"SET", "A:holdfast:open", "4800", "PX", "4800"}); // by another process
    const auto first = acquire(7, 'x');
    ask_in_turn(8, 'y');
    core->queue().leave_open(first);
    core->release(first, now);
    run();
    BOOST_TEST(events().starts_with("7 released, 8 granted"));
    BOOST_TEST(released_for_a_window()); // was asked for
}

// A client that comes while the resource is free keeps out of a window, and so does one that comes
// again.
BOOST_AUTO_TEST_CASE(a_window_of_another_process)
{
    reply(a, {"SET", "A:holdfast:open", "4800", "PX", "5000"});
    ask_in_turn(8, 'y');
    ask_in_turn(9, 'z');
    BOOST_TEST(events() == "");
    BOOST_TEST(
        told_to_wait == (std::vector<std::uint64_t>{8, 9}), boost::test_tools::per_element());
    pass(199ms);
    BOOST_TEST(events() == "");
    pass(20ms);
    BOOST_TEST(events().starts_with("8 granted"));
}

// The polling client has the resource when the window ends: it is waited for like any other holder.
BOOST_AUTO_TEST_CASE(a_holder_from_a_window_may_stay_longer)
{
    const auto first = acquire(7, 'x');
    ask_in_turn(8, 'y');
    core->queue().leave_open(first);
    core->release(first, now);
    run();
    events();
    BOOST_TEST(poll("60000"));
    pass(700ms);
    BOOST_TEST(events() == "");
    for (std::size_t i = 0; i < nodes.size(); ++i)
        reply(i, {"DEL", "A"});
    run();
    pass(1ms);
    BOOST_TEST(events().starts_with("8 granted"));
}

// Neither other data nor a key without an end keeps the queue waiting.
BOOST_AUTO_TEST_CASE(a_key_of_that_name_that_is_no_window)
{
    const std::vector<std::vector<std::string>> strange{{"SET", "A:holdfast:open", "junk"},
        {"SET", "A:holdfast:open", "-100"}, {"SET", "A:holdfast:open", "0", "PX", "60000"},
        {"LPUSH", "A:holdfast:open", "junk"}};
    for (const auto& command : strange) {
        reply(a, {"DEL", "A:holdfast:open"});
        reply(a, command);
        const auto id = ask_in_turn(8, 'y');
        BOOST_TEST(events().starts_with("8 granted"));
        core->queue().leave_open(id);
        core->release(id, now);
        run();
        BOOST_TEST(events() == "8 released");
    }
}

BOOST_AUTO_TEST_CASE(no_windows_are_wanted)
{
    terms.polling = {};
    const auto first = acquire(7, 'x');
    core->queue().leave_open(first);
    core->release(first, now);
    run();
    BOOST_TEST(!released_for_a_window());
}

// A node that has forgotten the script is sent its text.
BOOST_AUTO_TEST_CASE(a_window_by_the_text_of_the_script)
{
    const auto first = acquire(7, 'x');
    ask_in_turn(8, 'y');
    reply(a, {"SCRIPT", "FLUSH"});
    core->queue().leave_open(first);
    core->release(first, now);
    run();
    BOOST_TEST(events() == "7 released");
    const std::string said = nodes[a].commands();
    BOOST_TEST((said.find("PASS A for a window by text") != said.npos), said);
    pass(220ms);
    BOOST_TEST(events().starts_with("8 granted"));
}

// Users that take turns, each with one attempt at a time, and hold the resource for 20 ms.
struct crowd_fixture : window_fixture {
    struct grant {
        core::claim_id id;
        core::time_point at;
    };

    // Runs for so long. Returns how often a client that polls every 50 to 150 ms had the resource,
    // for each period.
    std::vector<int> polled(core::duration length)
    {
        std::vector<int> had;
        core::time_point next_poll = now, period_ends = now + 5200ms;
        int count = 0;
        for (const core::time_point end = now + length; now < end; pass(5ms)) {
            while (const auto e = core->next_event()) {
                if (e->kind == core::event_kind::granted)
                    holder = {asked.at(e->tag), now};
            }
            if (holder && now - holder->at >= 20ms) {
                core->release(holder->id, now);
                holder.reset();
                run();
                ask_again();
            }
            if (now >= next_poll) {
                count += poll("30") ? 1 : 0;
                next_poll = now + 50ms + 1ms * static_cast<int>(++polls * 37 % 101);
            }
            if (now >= period_ends) {
                had.push_back(std::exchange(count, 0));
                period_ends += 5200ms;
            }
        }
        return had;
    }

    void ask_again()
    {
        const std::uint64_t tag = ++last_tag;
        terms.queue = core::queueing::if_contended;
        core::owner_token token;
        token.text.fill('a');
        const std::string number = std::to_string(tag);
        std::copy(number.begin(), number.end(), token.text.begin());
        asked[tag] = core->attempt(tag, "A", token, terms, now);
        terms.queue = core::queueing::none;
        run();
    }

    std::map<std::uint64_t, core::claim_id> asked;
    std::optional<grant> holder;
    std::uint64_t last_tag = 100;
    unsigned polls = 0;
};

// Each of them has only one user, so no process ever ends its turns. A polling client gets the
// resource in every period even so.
BOOST_FIXTURE_TEST_CASE(clients_that_hand_off_among_themselves, crowd_fixture)
{
    const auto first = acquire(99, 'x');
    asked[99] = first;
    holder = {first, now};
    asked[98] = ask_in_turn(98, 'w');
    const std::vector<int> had = polled(27s);
    BOOST_TEST(had.size() == 5u);
    for (const int times : had)
        BOOST_TEST((times >= 1 && times <= 4), times);
    std::size_t windows = 0;
    for (const std::string& line : nodes[a].log)
        windows += line == "PASS A for a window" ? 1u : 0u;
    BOOST_TEST(windows == 5u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
