// Compares the modelled ZooKeeper servers with real ones: the same requests, in the same bytes,
// must get the same answers and events.

#include "support/zookeeper_servers.hpp"
#include "verification/stores/zookeeper/server.hpp"
#include "verification/stores/zookeeper/talker.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace holdfast;
using namespace holdfast::zookeeper_simulation;
using namespace std::chrono_literals;
namespace wire = zookeeper_store::wire;
using wire::operation;

constexpr duration tick = 500ms;
const std::vector<wire::access> everybody{{31, "world", "anyone"}};
const std::string nothing(16, '\0'); // the password of no session

wire::request create(const std::string& path, int mode = 0, const std::string& data = {})
{
    return {.what = operation::create2,
        .path = path,
        .data = data,
        .rights = everybody,
        .mode = wire::node_mode(mode)};
}

wire::request get(operation what, const std::string& path, bool watch = false)
{
    return {.what = what, .path = path, .watch = watch};
}

wire::request remove(const std::string& path, std::int32_t version = -1)
{
    return {.what = operation::remove, .path = path, .version = version};
}

// One of the two that are compared, with its clients.
struct side {
    std::function<std::unique_ptr<wire_end>(std::size_t)> open;
    std::function<void()> let_time_pass; // a little
    std::size_t leader = 0;
    std::int64_t base = 0;
    std::vector<std::int64_t> names{};
    std::vector<std::unique_ptr<talker>> talkers{};

    talker& add(std::size_t server = 0)
    {
        talkers.push_back(make(server));
        return *talkers.back();
    }
    std::unique_ptr<talker> make(std::size_t server)
    {
        auto made = std::make_unique<talker>(open(server), base);
        made->names = &names;
        return made;
    }
    talker& begin(std::size_t server = 0)
    {
        talker& added = add(server);
        added.connect({.timeout_ms = 8000, .password = nothing});
        return added;
    }
    // The node that all is done under. From now on, transactions are counted from it.
    void make_root()
    {
        begin().ask(create("/t"));
        base = talkers.front()->last().stat.created;
    }
    // A connection that the server is to end: all that it says.
    std::string refusal(const wire::connect_request& r)
    {
        talker& added = add();
        const std::string answer = added.connect(r);
        return answer + "; " + added.end();
    }
    // What all that may be told was told.
    std::string events()
    {
        std::string all;
        for (std::size_t i = 0; i < talkers.size(); ++i)
            all += std::to_string(i) + ": " + talkers[i]->events() + '\n';
        return all;
    }
};

// The model and real servers.
struct twins {
    explicit twins(std::size_t size = 1)
        : genuine({.servers = size, .tick_ms = 500, .container_ms = 500}),
          modelled(w, {.servers = size, .tick = tick, .container_interval = 500ms})
    {
        modelled.begin();
        sides[0].open = [this](std::size_t server) {
            return std::make_unique<modelled_end>(w, modelled, server);
        };
        sides[0].let_time_pass = [this] {
            w.run_until(w.now() + 20ms);
        };
        sides[1].open = [this](std::size_t server) {
            return std::make_unique<real_end>(genuine.port(server));
        };
        sides[1].let_time_pass = [] {
            std::this_thread::sleep_for(20ms);
        };
        sides[0].leader = modelled.leader();
        sides[1].leader = size == 1 ? 0 : genuine.leader();
        for (side& each : sides)
            each.make_root();
    }

    void compare(const std::function<std::string(side&)>& what)
    {
        const std::string modelled_words = what(sides[0]), genuine_words = what(sides[1]);
        BOOST_TEST(modelled_words == genuine_words);
    }

    test::zookeeper_servers genuine;
    world w{7};
    ensemble modelled;
    std::array<side, 2> sides;
};

BOOST_AUTO_TEST_SUITE(zookeeper_fidelity)

// A request at random, on few paths.
wire::request random_request(simulation::dice& random)
{
    static const std::array<std::string, 9> paths{
        "/t/a", "/t/b", "/t/a/x", "/t/a/y", "/t/b/x", "/t/c", "/t/c/lock-", "/t/d/x", "/t/wrong/"};
    const std::string& path = paths[random.below(paths.size())];
    const auto version = static_cast<std::int32_t>(random.below(3)) - 1;
    switch (random.below(12)) {
    case 0:
    case 1:
        return create(path, static_cast<int>(random.below(4)), "data");
    case 2: {
        wire::request r = create(path, static_cast<int>(random.below(4)));
        r.what = operation::create;
        if (random.chance(0.1))
            r.rights.clear();
        return r;
    }
    case 3: {
        wire::request r = create(path, 4);
        r.what = operation::create_container;
        return r;
    }
    case 4:
    case 5:
        return remove(path, version);
    case 6:
        return {.what = operation::set_data, .path = path, .data = "changed", .version = version};
    case 7:
        return get(operation::get_data, path, random.chance(0.5));
    case 8:
        return get(operation::get_children, path, random.chance(0.5));
    case 9:
        return get(operation::get_children2, "/t", random.chance(0.5));
    case 10:
        return get(operation::sync, path);
    default:
        return get(operation::exists, path, random.chance(0.5));
    }
}

BOOST_AUTO_TEST_CASE(random_requests_have_the_same_answers_and_events)
{
    twins t;
    for (side& each : t.sides) {
        each.begin();
        each.begin();
    }
    simulation::dice random(3);
    for (int step = 0; step < 3000; ++step) {
        BOOST_TEST_CONTEXT("step " << step)
        {
            const std::size_t who = random.below(3);
            if (random.chance(0.01)) { // and its ephemeral nodes are gone
                t.compare([&](side& s) {
                    auto& talks = s.talkers[who];
                    const std::string answer = talks->ask({.what = operation::close_session});
                    const std::string end = talks->end();
                    talks = s.make(0);
                    return answer + end + talks->connect({.timeout_ms = 8000, .password = nothing});
                });
            } else {
                const wire::request r = random_request(random);
                t.compare([&](side& s) { return s.talkers[who]->ask(r); });
            }
            t.compare([](side& s) { return s.events(); });
        }
    }
    BOOST_TEST(t.modelled.truth().last_zxid() > 1000);
}

BOOST_AUTO_TEST_CASE(timeouts_of_sessions_are_two_to_twenty_ticks)
{
    twins t;
    for (const std::int32_t wanted : {-1, 0, 1, 999, 1000, 1001, 7777, 10000, 10001, 1000000})
        t.compare([wanted](side& s) {
            return s.add().connect({.timeout_ms = wanted, .password = nothing});
        });
}

BOOST_AUTO_TEST_CASE(a_session_that_is_not_known_or_not_proved_is_refused)
{
    twins t;
    t.compare([](side& s) { // a wrong password
        return s.refusal(
            {.timeout_ms = 4000, .session = s.talkers.front()->session(), .password = nothing});
    });
    t.compare([](side& s) { // another one's password
        return s.refusal(
            {.timeout_ms = 4000, .session = 12345, .password = s.talkers.front()->password()});
    });
    t.compare([](side& s) { // it has seen what the server has not
        talker& added = s.add();
        return added.connect({.last_zxid = s.talkers.front()->last_zxid() + 100,
            .timeout_ms = 4000,
            .password = nothing});
    });
    t.compare([](side& s) { // after the end of the session
        talker& ended = s.begin();
        const wire::connect_request r{
            .timeout_ms = 4000, .session = ended.session(), .password = ended.password()};
        ended.ask({.what = operation::close_session});
        return s.refusal(r);
    });
    t.compare([](side& s) { return s.events(); });
}

BOOST_AUTO_TEST_CASE(a_second_connection_takes_the_session_over)
{
    twins t;
    t.compare([](side& s) {
        talker& first = s.begin();
        std::string all = first.ask(create("/t/mine", 1));
        all += first.ask(get(operation::exists, "/t/mine", true));
        talker& second = s.add();
        all += second.connect({.last_zxid = first.last_zxid(),
            .timeout_ms = 6000,
            .session = first.session(),
            .password = first.password()});
        all += first.end();
        all += second.ask(get(operation::exists, "/t/mine"));
        all += second.ask(remove("/t/mine")); // the first one's watch is lost
        all += second.events();
        all += second.ask({.what = operation::close_session});
        return all + second.end();
    });
}

BOOST_AUTO_TEST_CASE(what_a_session_does_is_told_in_order)
{
    twins t;
    t.compare([](side& s) { // its own events come before the answer
        talker& who = s.begin();
        std::string all = who.ask(create("/t/a", 1));
        all += who.ask(get(operation::exists, "/t/a", true));
        all += who.ask(get(operation::get_children, "/t/a", true));
        all += who.ask(get(operation::get_children, "/t", true));
        all += who.ask(remove("/t/a"));
        all += who.ask(get(operation::exists, "/t/b", true));
        all += who.ask(create("/t/b", 1));
        all += who.ask(get(operation::get_data, "/t/b", true));
        all += who.ask({.what = operation::set_data, .path = "/t/b", .data = "new"});
        return all;
    });
}

BOOST_AUTO_TEST_CASE(the_nodes_of_a_session_that_expires_are_removed)
{
    twins t;
    t.compare([](side& s) {
        talker& silent = s.add();
        std::string all = silent.connect({.timeout_ms = 1000, .password = nothing});
        all += silent.ask(create("/t/a", 1));
        all += silent.ask(create("/t/b-", 3));
        talker& other = *s.talkers.front();
        all += other.ask(get(operation::exists, "/t/a", true));
        while (other.events().empty())
            s.let_time_pass();
        all += other.ask(get(operation::get_children2, "/t"));
        all += silent.end();
        const wire::connect_request r{
            .timeout_ms = 1000, .session = silent.session(), .password = silent.password()};
        return all + s.refusal(r);
    });
}

BOOST_AUTO_TEST_CASE(a_container_is_removed_when_its_last_node_has_gone)
{
    twins t;
    t.compare([](side& s) {
        talker& who = *s.talkers.front();
        std::string all;
        for (const char* const each : {"/t/used", "/t/new"}) {
            wire::request r = create(each, 4);
            r.what = operation::create_container;
            all += who.ask(r);
        }
        all += who.ask(create("/t/used/x-", 3));
        all += who.ask(get(operation::exists, "/t/used", true));
        all += who.ask(remove("/t/used/x-0000000000"));
        std::string told;
        while ((told = who.events()).empty())
            s.let_time_pass();
        all += told + who.ask(create("/t/used/x-", 3));
        return all + who.ask(get(operation::get_children2, "/t"));
    });
}

BOOST_AUTO_TEST_CASE(a_session_moves_to_another_server)
{
    twins t(3);
    for (const std::size_t from : {0u, 1u, 2u}) { // the leader, and those after it
        t.compare([from](side& s) {
            const std::size_t old_server = (s.leader + from) % 3;
            const std::size_t new_server = (s.leader + from + 1) % 3;
            talker& first = s.begin(old_server);
            std::string all = first.ask(create("/t/mine", 1));
            const wire::connect_request r{.last_zxid = first.last_zxid(),
                .timeout_ms = 8000,
                .session = first.session(),
                .password = first.password()};
            std::string connected;
            // A server that is behind closes the connection.
            while ((connected = s.add(new_server).connect(r)) == "closed")
                s.let_time_pass();
            talker& second = *s.talkers.back();
            all += connected;
            all += second.ask(get(operation::sync, "/t"));
            all += first.ask(get(operation::exists, "/t/mine")); // read, unless it leads
            all += first.ask(create("/t/other", 1));             // but nothing is changed
            all += second.ask(get(operation::sync, "/t"));
            all += second.ask(get(operation::exists, "/t/mine"));
            all += second.ask(get(operation::exists, "/t/other"));
            all += second.ask({.what = operation::close_session});
            return all + second.end();
        });
    }
}

// The numbers of nodes end at the largest. They do not begin again, and are no order then.
BOOST_AUTO_TEST_CASE(a_parent_counts_no_further_than_to_the_largest_number)
{
    twins t;
    test::zookeeper_servers aged(
        {.aged = {{"/aged", std::numeric_limits<std::int32_t>::max() - 2}}});
    world w(5);
    ensemble model(w, {.servers = 1, .tick = tick});
    model.commit({{.what = operation::create, .zxid = 1, .path = "/aged", .creations = 1}, 0, 0});
    model.commit({{.what = operation::create,
                      .zxid = 2,
                      .path = "/aged/old",
                      .creations = std::numeric_limits<std::int32_t>::max() - 2},
        0, 0});
    model.begin();
    t.sides[0].open = [&](std::size_t) {
        return std::make_unique<modelled_end>(w, model, 0);
    };
    t.sides[1].open = [&](std::size_t) {
        return std::make_unique<real_end>(aged.port());
    };
    t.compare([](side& s) {
        s.talkers.clear();
        talker& who = s.begin();
        std::string all;
        for (int i = 0; i < 6; ++i) {
            who.ask(create("/aged/" + std::to_string(i) + "-", 3));
            all += ' ' + who.last().path;
        }
        who.ask(get(operation::get_children2, "/aged"));
        all += ' ' + std::to_string(who.last().stat.children_version);
        s.talkers.clear();
        return all;
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
