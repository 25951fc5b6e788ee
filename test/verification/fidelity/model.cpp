// Features of the model that cannot be compared with a real server: expiry at a chosen time, a
// restart with a chosen state, and notifications of each change.
#include "redis/node/scripts.hpp"
#include "support/redis_client.hpp"
#include "support/redis_model.hpp"
#include "verification/fidelity/random_commands.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace holdfast::test;
using namespace std::chrono_literals;
using std::chrono::milliseconds;
using words = std::vector<std::string>;

struct model_fixture {
    redis_model model{"first"};
    redis_model::session session;
    std::string told; // what changed, in order

    model_fixture()
    {
        model.on_change = [this](const std::string& key, const redis_model::item* now) {
            told += key + (now == nullptr ? " gone; " : "=" + now->value + "; ");
        };
    }

    std::string ask(const words& command, milliseconds wall)
    {
        std::string reply;
        model.receive(session, encode_command(command), wall, reply);
        return reply;
    }

    std::string changes() { return std::exchange(told, {}); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(model, model_fixture)

BOOST_AUTO_TEST_CASE(expiry_deletes_the_keys_that_are_over_at_that_time)
{
    ask({"SET", "a", "x", "PX", "100"}, 1000ms);
    ask({"SET", "b", "x", "PX", "200"}, 1000ms);
    ask({"SET", "c", "x"}, 1000ms);
    changes();
    model.expire(1100ms);
    BOOST_TEST(changes() == "");
    model.expire(1101ms);
    BOOST_TEST(changes() == "a gone; ");
    model.expire(900ms);
    ask({"SET", "d", "x", "PX", "50"}, 900ms);
    changes();
    model.expire(951ms);
    BOOST_TEST(changes() == "d gone; ");
    model.state = redis_model::trouble::read_only; // a replica leaves expiry to its primary
    model.expire(9000ms);
    BOOST_TEST(ask({"GET", "b"}, 9000ms) == "$-1\r\n");
    BOOST_TEST(changes() == "");
    model.state = redis_model::trouble::none;
    model.expire(9000ms);
    BOOST_TEST(changes() == "b gone; ");
    BOOST_TEST(ask({"GET", "c"}, 9000ms) == "$1\r\nx\r\n");
}

BOOST_AUTO_TEST_CASE(a_restart_restores_the_given_data)
{
    ask({"SET", "a", "x", "PX", "100"}, 1000ms);
    const redis_model::data snapshot = model.contents();
    ask({"SET", "b", "x"}, 1000ms);
    const auto& script = holdfast::redis::release_script;
    ask({"SCRIPT", "LOAD", std::string(script.text)}, 1000ms);
    BOOST_TEST(model.has_script(script.digest));
    changes();
    model.restart("second", snapshot);
    session = {};
    BOOST_TEST(!model.has_script(script.digest));
    BOOST_TEST((ask({"INFO", "server"}, 1000ms).find("run_id:second\r\n") != std::string::npos));
    BOOST_TEST(ask({"GET", "a"}, 1050ms) == "$1\r\nx\r\n");
    BOOST_TEST(ask({"GET", "b"}, 1050ms) == "$-1\r\n");
    model.expire(2000ms);
    BOOST_TEST(changes() == "a gone; ");
    model.restart("third", {});
    BOOST_TEST(ask({"SELECT", "15"}, 1000ms) == "+OK\r\n");
}

// The model does at once what the script that makes registers does in a loop.
BOOST_AUTO_TEST_CASE(numbered_members_are_raised_as_if_one_by_one)
{
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::minstd_rand dice(seed);
        const std::size_t count = dice() % 2 == 0 ? 300 : 20;
        sorted_set at_once, one_by_one;
        for (int step = 0; step < 40; ++step) {
            const auto score = static_cast<double>(dice() % 50);
            const std::string name = std::to_string(dice() % (count + 2));
            const sorted_set::condition gt{.gt = dice() % 2 == 0};
            const sorted_set copy = at_once; // shares its parts
            const auto before = copy.all();
            switch (dice() % 4) {
            case 0:
                BOOST_TEST((at_once.put(score, name, gt) == one_by_one.put(score, name, gt)));
                break;
            case 1:
                BOOST_TEST(at_once.erase(name) == one_by_one.erase(name));
                break;
            default:
                bool changed = false;
                for (std::size_t i = 0; i < count; ++i)
                    changed |= one_by_one.put(score, std::to_string(i), {.gt = true}) !=
                               sorted_set::outcome::same;
                BOOST_TEST(at_once.raise_numbered(score, count) == changed);
                BOOST_TEST(changed != (copy == at_once));
            }
            BOOST_TEST((copy.all() == before));
            BOOST_TEST((at_once == one_by_one));
            BOOST_TEST((at_once.all() == one_by_one.all()));
            BOOST_TEST((at_once.score_of(name) == one_by_one.score_of(name)));
        }
    }
}

// A session may be destroyed, closed by the server, replaced, or lost in a restart.
BOOST_AUTO_TEST_CASE(a_session_that_is_gone_receives_no_push)
{
    std::string heard;
    model.on_push = [&](std::uint64_t id, std::string_view bytes) {
        heard += std::to_string(id) + ": " + std::string(bytes);
    };
    ask({"SUBSCRIBE", "one"}, 1000ms);
    {
        redis_model::session other;
        std::string reply;
        model.receive(other, encode_command({"HELLO", "3"}), 1000ms, reply);
        model.receive(other, encode_command({"SUBSCRIBE", "one"}), 1000ms, reply);
        model.receive(other, encode_command({"PUBLISH", "one", ""}), 1000ms, reply);
        BOOST_TEST(reply.ends_with(":2\r\n"));
        BOOST_TEST(heard.starts_with("1: *3\r\n$7\r\nmessage\r\n"));
    }
    heard.clear();
    redis_model::session third;
    const auto publish = [&] {
        std::string reply;
        model.receive(third, encode_command({"PUBLISH", "one", ""}), 1000ms, reply);
        return reply;
    };
    BOOST_TEST(publish() == ":1\r\n");
    BOOST_TEST(!heard.empty());
    ask({"QUIT"}, 1000ms); // closed by the server, while its owner still has it
    BOOST_TEST(publish() == ":0\r\n");
    session = {};
    ask({"SUBSCRIBE", "one"}, 1000ms);
    BOOST_TEST(publish() == ":1\r\n");
    session = {};
    BOOST_TEST(publish() == ":0\r\n");
    ask({"SUBSCRIBE", "one"}, 1000ms);
    model.restart("second", {});
    BOOST_TEST(publish() == ":0\r\n");
}

BOOST_AUTO_TEST_CASE(an_observer_may_answer_in_place_of_the_model)
{
    ask({"SET", "a", "x"}, 1000ms);
    model.before = [](redis_model::arguments command) -> std::optional<std::string> {
        if (command[0] == "DEL")
            return "-OOPS\r\n";
        return std::nullopt;
    };
    BOOST_TEST(ask({"DEL", "a"}, 1000ms) == "-OOPS\r\n");
    BOOST_TEST(ask({"GET", "a"}, 1000ms) == "$1\r\nx\r\n");
}

BOOST_AUTO_TEST_CASE(an_exception_of_an_observer_passes_through_a_script)
{
    const words release{"EVAL", std::string(holdfast::redis::release_script.text), "1", "a", "x"};
    ask({"SET", "a", "x"}, 1000ms);
    model.on_change = [](const std::string&, const redis_model::item*) {
        throw std::runtime_error("seen");
    };
    BOOST_CHECK_EXCEPTION(ask(release, 1000ms), std::runtime_error,
        [](const std::exception& e) { return e.what() == std::string("seen"); });
    model.on_change = nullptr;
    session = {};
    ask({"SET", "a", "x"}, 1000ms);
    BOOST_TEST(ask(release, 1000ms) == ":1\r\n");
}

// A mirror that applies all notified changes has the same contents as the model.
BOOST_AUTO_TEST_CASE(every_change_is_notified)
{
    std::map<std::string, redis_model::item> mirror;
    model.on_change = [&](const std::string& key, const redis_model::item* now) {
        if (now == nullptr)
            mirror.erase(key);
        else
            mirror[key] = *now;
    };
    random_commands random(1);
    milliseconds wall = 1'000'000ms;
    int full = 0;
    for (int i = 0; i < 50'000; ++i) {
        wall += milliseconds(random.roll(4)) - 1ms;
        ask(random.next(), wall);
        session.database = 0; // notifications do not name the database
        if (random.one_in(100))
            model.expire(wall);
        const auto& now = model.contents()[0];
        BOOST_REQUIRE((std::map<std::string, redis_model::item>(now.begin(), now.end()) == mirror));
        full += mirror.empty() ? 0 : 1;
    }
    BOOST_TEST(full > 10'000);
}

BOOST_AUTO_TEST_SUITE_END()
