#pragma once

#include "redis/redlock_core.hpp"
#include "support/printing.hpp"
#include "support/times.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// A redlock core on nodes of some kind. They are constructed from a name and have `bool
// serve(core::connection&, core::time_point now)`, which returns true if anything happened. The
// network takes no time; time passes only when the test says so.
template <class Node>
struct redlock_fixture {
    explicit redlock_fixture(std::size_t count, std::optional<core::duration> node_timeout,
        const std::optional<redis::fence_settings>& fence = {}, const redis::deployment& used = {})
    {
        std::vector<redis::node_settings> settings(count);
        for (std::size_t i = 0; i < count; ++i) {
            const std::string name = "node" + std::to_string(i);
            nodes.emplace_back(name);
            settings[i] = {.where = {.host = name, .port = 6379, .path = {}},
                .name = name,
                .user = {},
                .password = {},
                .client_name = {},
                .connect_timeout = std::chrono::seconds(2),
                .silence_timeout = std::chrono::seconds(10),
                .reconnect_min = std::chrono::milliseconds(50),
                .reconnect_max = std::chrono::seconds(2),
                .max_requests = 1000,
                .max_bytes = 1024 * 1024};
        }
        core = std::make_unique<redis::redlock_core>(
            std::move(settings), node_timeout, 1, fence, used);
    }

    // Serves all nodes until nothing more happens at this moment.
    void run()
    {
        for (bool changed = true; changed;) {
            changed = false;
            while (core->wake_at() <= now) {
                core->wake(now);
                changed = true;
            }
            for (std::size_t i = 0; i < nodes.size(); ++i)
                changed = nodes[i].serve(*core->connections()[i], now) || changed;
        }
    }

    // Whether nothing is left to do. Lets the time pass that the core has noted, which may be too
    // early.
    bool is_idle()
    {
        if (core->wake_at() != holdfast::core::never)
            pass(core->wake_at() - now);
        return core->wake_at() == holdfast::core::never;
    }

    // Lets time pass, and wakes the core whenever it is due.
    void pass(core::duration d)
    {
        const core::time_point end = now + d;
        run();
        while (core->wake_at() <= end) {
            now = std::max(now, core->wake_at());
            run();
        }
        now = end;
        run();
    }

    core::claim_id ask(std::uint64_t tag, char token = 'x', std::string_view resource = "A")
    {
        core::owner_token t;
        t.text.fill(token);
        return core->attempt(tag, resource, t, terms, now);
    }

    // The events since the last call, in words, in order.
    std::string events()
    {
        std::string all;
        while (const auto e = core->next_event()) {
            keys_left = e->keys_left;
            if (e->kind == core::event_kind::queued)
                told_to_wait.push_back(e->tag); // most tests check this by the requests
            else
                all += (all.empty() ? "" : ", ") + in_words(*e);
        }
        return all;
    }

    std::string in_words(const core::backend_event& e) const
    {
        const std::string tag = std::to_string(e.tag);
        const auto end = e.kind == core::event_kind::free_hint ? e.free_at : e.valid.until;
        const std::string left =
            std::to_string(std::chrono::floor<std::chrono::milliseconds>(end - now).count());
        switch (e.kind) {
        case core::event_kind::granted:
            return tag + " granted " +
                   (e.fence ? std::to_string(*e.fence - first_token) + " " : "") + "for " + left;
        case core::event_kind::refused:
            return tag + " refused: " + std::string(name_of(e.reason)) +
                   (e.transient ? ", passes" : "");
        case core::event_kind::queued:
            return tag + " queued";
        case core::event_kind::validity:
            return tag + " valid for " + left;
        case core::event_kind::lost:
            return tag + " lost";
        case core::event_kind::released:
            return tag + (e.outcome == release_outcome::released     ? " released"
                             : e.outcome == release_outcome::expired ? " expired"
                                                                     : " unconfirmed");
        case core::event_kind::no_remote_waiters:
            return tag + " alone";
        case core::event_kind::remote_waiters:
            return tag + " others wait";
        case core::event_kind::free_hint:
            return tag + (e.reason == errc{} ? " frees in " + left
                                             : " " + std::string(name_of(e.reason)));
        }
        return "?";
    }

    std::vector<std::uint64_t> told_to_wait; // tags of `queued` events
    bool keys_left = false;                  // in the last event
    std::uint64_t first_token = 0;           // tokens are told relative to this one
    std::vector<Node> nodes;
    std::unique_ptr<redis::redlock_core> core;
    core::time_point now = start;
    core::claim_params terms{.ttl = std::chrono::milliseconds(1000),
        .drift = std::chrono::milliseconds(12),
        .guard = std::chrono::milliseconds(50)};
};

} // namespace holdfast::test
