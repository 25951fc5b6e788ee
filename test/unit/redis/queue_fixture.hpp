#pragma once

#include "support/model_cluster.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace holdfast::test {

// Claims of one client for one resource, and the nodes that keep its queue.
struct queue_fixture : model_cluster {
    // `errors`: what each node answers, by the name of the command in its log.
    explicit queue_fixture(
        std::size_t count = 5, const std::map<std::string, std::string>& errors = {})
        : model_cluster(count)
    {
        for (model_node& n : nodes)
            n.errors = errors;
        run();
    }

    core::claim_id ask_in_turn(std::uint64_t tag, char token)
    {
        terms.queue = core::queueing::now;
        const core::claim_id id = ask(tag, token);
        terms.queue = core::queueing::none;
        run();
        return id;
    }

    // The node that was asked for a place in the queue; only one may have been.
    std::size_t queue_node()
    {
        std::vector<std::size_t> asked;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const auto& log = nodes[i].log;
            if (std::find(log.begin(), log.end(), "ENQUEUE A") != log.end())
                asked.push_back(i);
        }
        BOOST_REQUIRE(asked.size() == 1u);
        for (model_node& n : nodes)
            n.commands();
        return asked[0];
    }

    // The same for a resource without any waiters.
    std::size_t queue_node_without_waiters()
    {
        ask_in_turn(6, 'w');
        const std::size_t found = queue_node();
        for (model_node& n : nodes)
            n.forget_keys();
        run(); // they push that
        events();
        return found;
    }

    std::string reply(std::size_t node, const std::vector<std::string>& command)
    {
        return nodes[node].command(command, now);
    }
    bool has_queue(std::size_t node)
    {
        return reply(node, {"EXISTS", "A:holdfast:queue"}) == ":1\r\n";
    }
};

} // namespace holdfast::test
