#pragma once

#include "redis/cluster_core.hpp"
#include "unit/redis/scripted_members.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace holdfast::test {

struct cluster_fixture : scripted_members {
    cluster_core cluster{
        {{.host = "m", .port = 1, .path = {}}, {.host = "m", .port = 2, .path = {}}},
        member_settings(), 100ms, {.in_cluster = true, .about = {.name = "redis cluster"}}, 1};
    std::vector<core::backend_event> events;

    void settle()
    {
        for (bool changed = true; changed;) {
            changed = cluster.wake_at() <= now;
            if (changed)
                cluster.wake(now);
            for (std::size_t i = 0; i < cluster.connections().size(); ++i)
                changed = follow(*cluster.connections()[i]) || changed;
            while (const auto event = cluster.next_event())
                events.push_back(*event);
        }
    }

    void pass(core::duration length)
    {
        const core::time_point end = now + length;
        settle();
        while (cluster.wake_at() <= end) {
            now = std::max(now, cluster.wake_at());
            settle();
        }
        now = end;
    }

    core::claim_id attempt(const std::string& resource, char digit = '1')
    {
        return cluster.attempt(
            7, resource, token(digit), {.ttl = 10s, .drift = 10ms, .guard = 100ms}, now);
    }

    core::claim_id hold(const std::string& resource)
    {
        const core::claim_id id = attempt(resource);
        pass(200ms);
        BOOST_REQUIRE(events.size() == 1u);
        BOOST_REQUIRE((told().kind == core::event_kind::granted));
        return id;
    }

    core::backend_event told()
    {
        BOOST_REQUIRE(!events.empty());
        const core::backend_event first = events.front();
        events.erase(events.begin());
        BOOST_TEST(first.tag == 7u);
        return first;
    }
};

} // namespace holdfast::test
