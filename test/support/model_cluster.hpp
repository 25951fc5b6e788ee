#pragma once

#include "support/model_node.hpp"
#include "support/redlock_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>

namespace holdfast::test {

// A redlock core on model nodes.
struct model_cluster : redlock_fixture<model_node> {
    explicit model_cluster(std::size_t count,
        std::optional<core::duration> node_timeout = std::chrono::milliseconds(50),
        const std::optional<redis::fence_settings>& fence = {}, const redis::deployment& used = {})
        : redlock_fixture(count, node_timeout, fence, used)
    {}

    // Makes an attempt, which all nodes that answer at once must grant.
    core::claim_id acquire(std::uint64_t tag, char token = 'x', std::string_view resource = "A")
    {
        const core::claim_id id = ask(tag, token, resource);
        run();
        const auto e = core->next_event();
        BOOST_REQUIRE(e.has_value());
        BOOST_REQUIRE(e->kind == core::event_kind::granted);
        for (model_node& n : nodes)
            n.commands();
        return id;
    }

    void renew(core::claim_id id, bool again = false)
    {
        core->renew({&id, 1}, again, now);
        run();
    }

    // The number of nodes that hold `key` for the owner token made of this character.
    std::size_t holders(char token = 'x', const std::string& key = "A") const
    {
        std::size_t count = 0;
        for (const model_node& n : nodes)
            count += n.owner(key, now) == std::string(32, token) ? 1u : 0u;
        return count;
    }

    // Gives the key on this node to another client.
    void occupy(std::size_t node, std::chrono::milliseconds how_long = std::chrono::seconds(5))
    {
        nodes[node].command({"SET", "A", "another", "PX", std::to_string(how_long.count())}, now);
    }
};

} // namespace holdfast::test
