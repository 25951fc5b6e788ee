#pragma once

#include "redis/node/scripts.hpp"
#include "support/model_cluster.hpp"
#include "support/redis_client.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::test {

// Claims of one client for one resource on three nodes, and other clients that give it their leases
// or get its own. Tokens are 32 equal letters; `o` is that of another client's keys.
struct baton_fixture : model_cluster {
    explicit baton_fixture(
        const std::optional<redis::fence_settings>& fence = {}, const redis::deployment& used = {})
        : model_cluster(3, std::chrono::milliseconds(50), fence, used)
    {
        if (fence) {
            lock = "hf:l:A";
            queue = "hf:q:A";
        } else if (used.in_cluster) {
            queue = "{A}:holdfast:queue:";
        }
        run();
        ask_in_turn(6, 'w');
        find_queue_node();
        b = (a + 1) % 3;
        c = (a + 2) % 3;
        for (const auto i : {a, b, c}) {
            reply(i, {"DEL", lock});
            reply(i, {"SCRIPT", "LOAD", std::string(redis::baton_script.text)});
        }
        events();
        requests();
    }

    static std::string text_of(char token) { return std::string(32, token); }
    std::string reply(std::size_t node, const std::vector<std::string>& command)
    {
        return nodes[node].command(command, now);
    }

    // Another client has the key on all nodes, and holds it for so long.
    void others_hold(core::duration length = std::chrono::seconds(1))
    {
        const auto ttl = std::to_string(length / std::chrono::milliseconds(1));
        for (const auto i : {a, b, c})
            reply(i, {"SET", lock, text_of('o'), "PX", ttl});
    }
    core::claim_id ask_in_turn(std::uint64_t tag, char token)
    {
        terms.queue = core::queueing::now;
        const core::claim_id id = ask(tag, token);
        terms.queue = core::queueing::none;
        run();
        return id;
    }
    // Another client holds the key, and we wait for it.
    core::claim_id wait(core::duration length = std::chrono::seconds(1))
    {
        others_hold(length);
        const core::claim_id id = ask_in_turn(8, 'y');
        place = first_in_queue(a);
        requests();
        BOOST_TEST(events() == "");
        return id;
    }
    // It gives its lease to the next waiter. The message is delivered with run().
    std::string others_give(const std::string& terms_of_it = " 0")
    {
        return reply(a, {"EVAL", std::string(redis::baton_script.text), "2", lock, queue,
                            text_of('o'), terms_of_it, "500"});
    }
    // The same, and the message is lost.
    void others_give_in_vain(const std::string& terms_of_it = " 0")
    {
        const auto push = std::exchange(nodes[a].server.on_push, [](auto, auto) {});
        BOOST_TEST(others_give(terms_of_it) == ":2\r\n");
        nodes[a].server.on_push = push;
    }
    // A lease that we have waited for, and that was given to us.
    core::claim_id get_baton(const std::string& terms_of_it = " 0")
    {
        const core::claim_id id = wait(terms.ttl);
        others_give(terms_of_it);
        run();
        BOOST_REQUIRE(events().starts_with("8 granted"));
        BOOST_REQUIRE(requests() == "");
        return id;
    }
    // A lease that we have waited for, with keys of our own: the key was handed off to us.
    core::claim_id get_turn(core::duration answer_of_queue_node = {})
    {
        others_hold();
        nodes[a].silent = answer_of_queue_node != core::duration(0);
        const core::claim_id id = ask_in_turn(8, 'y');
        pass(answer_of_queue_node);
        nodes[a].silent = false;
        run();
        for (const auto i : {b, c})
            reply(i, {"DEL", lock});
        reply(a, {"EVAL", std::string(redis::pass_on_script.text), "2", lock, queue, text_of('o'),
                     "500", ""});
        run();
        BOOST_REQUIRE(events().starts_with("8 granted"));
        requests();
        return id;
    }

    // Lets time pass until the claim asks the queue node for its place again. The node has not read
    // that: it is deaf.
    void pass_until_it_asks_again()
    {
        const core::time_point latest = now + std::chrono::seconds(2);
        for (;;) {
            nodes[a].deaf = true;
            now = std::max(now, core->wake_at());
            run();
            const std::string_view said = core->connections()[a]->output();
            if (said.find(redis::enqueue_script.digest) != said.npos)
                return;
            BOOST_REQUIRE(now < latest);
            nodes[a].deaf = false;
            run();
        }
    }

    // Another client waits in the queue, behind the others. It is told on that channel.
    void wait_elsewhere(char token, const std::string& channel, double rank = 100)
    {
        reply(a, {"ZADD", queue, std::to_string(rank), text_of(token) + reference + channel});
        redis_model::session& listener = listeners_[channel];
        std::string ignored;
        nodes[a].server.receive(listener, encode_command({"SUBSCRIBE", channel}),
            std::chrono::floor<redis_model::time>(now.time_since_epoch()), ignored);
        const auto ours = nodes[a].server.on_push;
        nodes[a].server.on_push = [this, ours, &listener](
                                      std::uint64_t to, std::string_view bytes) {
            if (to == listener.id)
                heard += bytes.substr(bytes.rfind('\n', bytes.size() - 3) + 1);
            else
                ours(to, bytes);
        };
    }
    // What other clients were told since the last call; each message is a line.
    std::string told() { return std::exchange(heard, {}); }

    void release(core::claim_id id)
    {
        core->release(id, now);
        run();
    }
    void disconnect(std::size_t node) { nodes[node].disconnect(*core->connections()[node], now); }

    // The requests since the last call, by node.
    std::string requests(std::size_t node)
    {
        std::string all = nodes[node].commands();
        for (std::size_t at = 0; (at = all.find(lock, at)) != all.npos;)
            all.replace(at++, lock.size(), "A");
        for (std::size_t at = 0; (at = all.find(' ' + queue)) != all.npos;)
            all.erase(at, queue.size() + 1);
        return all;
    }
    // Those of the queue node, and of the others if there are any.
    std::string requests()
    {
        std::string all;
        for (const auto i : {a, b, c}) {
            const std::string one = requests(i);
            if (!one.empty())
                all +=
                    (all.empty() ? "" : "; ") + std::string(1, "abc"[(i + 3 - a) % 3]) + ": " + one;
        }
        return all;
    }

    std::string value(std::size_t node) const { return nodes[node].owner(lock, now); }
    // Whose keys are there, by the first letters of their values: "yo-".
    std::string owners() const
    {
        std::string all;
        for (const auto i : {a, b, c})
            all += (value(i) + '-').front();
        return all;
    }
    bool has_queue(std::size_t node) { return reply(node, {"EXISTS", queue}) == ":1\r\n"; }
    std::string first_in_queue(std::size_t node)
    {
        const std::string shown = reply(node, {"ZRANGE", queue, "0", "0"});
        const std::size_t at = shown.find("\r\n", shown.find('$')) + 2;
        return shown.substr(at, shown.size() - at - 2);
    }
    // The message of a baton for the claim that waits, sent once more.
    void say_again(const std::string& rest = text_of('o') + "1000 0")
    {
        reply(a, {"PUBLISH", place.substr(48), place.substr(0, 48) + rest});
        run();
    }

    std::string lock = "A", queue = "A:holdfast:queue";
    std::size_t a = 0, b = 0, c = 0; // the queue node, and the others
    std::string place;               // the entry of the claim that waits
    const std::string reference = "ffffffffffffffff";

private:
    void find_queue_node()
    {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (nodes[i].commands().find("ENQUEUE") != std::string::npos)
                a = i;
        }
    }

    std::map<std::string, redis_model::session> listeners_; // by channel
    std::string heard;
};

} // namespace holdfast::test
