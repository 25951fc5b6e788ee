#pragma once

#include "redis/redlock_core.hpp"

#include "fuzz/fenced_node.hpp"
#include "fuzz/redlock_settings.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace holdfast::fuzz {

// Two clients and their nodes. After every call of a core all its events are handled and checked
// against the promises of leases and tokens.
struct fenced_world {
    using event = core::event_kind;
    enum class stage { asking, held, releasing };

    struct claim {
        std::size_t client = 0;
        core::claim_id id = 0;
        std::string resource;
        core::claim_params terms{};
        stage now = stage::asking;
        core::time_point told = core::long_ago;
        std::uint64_t least = 0; // the largest token before the attempt: its token must be larger
        std::uint64_t token = 0;
    };

    explicit fenced_world(input& choices)
        : in(choices),
          trouble(in.below(4)),
          nodes(1 + in.below(5))
    {
        for (std::size_t i = 0; i < nodes.size(); ++i)
            nodes[i] = std::make_unique<fenced_node>(i, clients.size());
        for (std::size_t c = 0; c < clients.size(); ++c) {
            clients[c] = std::make_unique<redis::redlock_core>(
                redlock_settings(nodes.size()), core::duration(50ms), c + 1, fence_terms);
            for (std::size_t i = 0; i < nodes.size(); ++i)
                nodes[i]->clients[c].end = clients[c]->connections()[i];
        }
        wake();
    }

    input& in;
    // The faults besides restarts with all data and lost scripts and connections. 1: nodes restart
    // without data; 2: only locks are lost; 3: clocks are set.
    const std::size_t trouble;
    bool forgets() const { return trouble == 1; }
    bool loses_locks() const { return trouble == 2; }
    bool sets_clocks() const { return trouble == 3; }
    bool excludes() const { return trouble < 2; }

    std::array<std::unique_ptr<redis::redlock_core>, 2> clients;
    std::vector<std::unique_ptr<fenced_node>> nodes;
    core::time_point now = holdfast::test::start;
    std::map<std::uint64_t, claim> open;                   // by tag
    std::map<std::string, std::set<std::uint64_t>> tokens; // granted tokens by resource

    template <class Call>
    void act(Call call)
    {
        call();
        take_events();
        for (bool changed = true; changed; take_events()) {
            changed = false;
            for (const auto& n : nodes)
                changed = n->follow(now) || changed;
        }
    }

    void take_events()
    {
        for (const auto& client : clients) {
            while (const auto e = client->next_event()) {
                if (e->kind != event::free_hint)
                    take(*e);
            }
        }
    }

    std::uint64_t largest(const std::string& resource) const
    {
        const auto found = tokens.find(resource);
        return found == tokens.end() || found->second.empty() ? 0 : *found->second.rbegin();
    }

    void give(claim& c, std::optional<std::uint64_t> token)
    {
        check(token.has_value(), "every lease has a token");
        check(tokens[c.resource].insert(*token).second, "every token is granted once");
        check(*token > c.least, "a token is larger than all that were granted before its attempt");
        c.token = *token;
    }

    void take(const core::backend_event& e)
    {
        const auto found = open.find(e.tag);
        check(found != open.end(), "there is no event for an ended claim");
        claim& c = found->second;
        switch (e.kind) {
        case event::granted:
            check(c.now == stage::asking, "an attempt ends only once");
            give(c, e.fence);
            c.now = stage::held;
            [[fallthrough]];
        case event::validity:
            check(c.now == stage::held && e.valid.until > now, "a validity ends in the future");
            c.told = e.valid.until;
            check_exclusion(e.tag, c);
            return;
        case event::lost:
            check(c.now == stage::held, "only held leases are lost");
            c.told = core::long_ago;
            return;
        case event::refused:
            check(c.now == stage::asking && e.reason != errc{}, "a refusal has a reason");
            open.erase(found);
            return;
        case event::released:
            check(c.now == stage::releasing, "a release ends only once");
            open.erase(found);
            return;
        case event::queued:
            check(c.now == stage::asking, "a queued attempt has no lease");
            return;
        case event::no_remote_waiters:
        case event::remote_waiters:
        case event::free_hint:
            return;
        }
    }

    void check_exclusion(std::uint64_t tag, const claim& valid) const
    {
        for (const auto& [other, c] : open) {
            check(!excludes() || other == tag || c.now != stage::held ||
                      c.resource != valid.resource || c.told <= now,
                "no two leases on one resource are valid at once");
        }
    }

    core::time_point wake_at() const
    {
        return std::min(clients[0]->wake_at(), clients[1]->wake_at());
    }

    void wake()
    {
        act([] {});
        for (unsigned wakes = 0; wake_at() <= now; ++wakes) {
            check(wakes < 100, "a core is not due again at once after a wake()");
            act([&] {
                for (const auto& client : clients)
                    client->wake(now);
            });
        }
    }

    void pass(core::duration d)
    {
        const core::time_point end = now + d;
        for (wake(); wake_at() <= end; wake())
            now = wake_at();
        now = end;
    }

    // Runs all pending work of a node; true if there was any.
    bool serve(fenced_node& n)
    {
        bool changed = false;
        for (fenced_node::connection& c : n.clients) {
            act([&] {
                changed = n.take(c, SIZE_MAX, now) || changed;
                changed = n.execute(c, now) || changed;
                changed = n.deliver(c, SIZE_MAX, now) || changed;
            });
        }
        return changed;
    }
    void serve_all()
    {
        for (int rounds = 0; rounds < 8; ++rounds) {
            bool changed = false;
            for (const auto& n : nodes)
                changed = serve(*n) || changed;
            if (!changed)
                return;
        }
    }
};

} // namespace holdfast::fuzz
