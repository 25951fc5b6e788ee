#pragma once

#include "etcd/lock_core.hpp"
#include "support/etcd_model.hpp"
#include "support/etcd_model_server.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace holdfast::test {

using namespace std::chrono_literals;

/// One store of locks, and model servers for its connections. Time passes by pass() alone.
class etcd_client {
public:
    explicit etcd_client(etcd_model& data, std::size_t servers = 1, std::uint64_t seed = 1,
        const std::string& user = {})
        : model(data),
          core(settings(servers, user), seed),
          links(servers)
    {
        settle();
    }

    static std::shared_ptr<const etcd_store::lock_settings> settings(
        std::size_t servers, const std::string& user = {})
    {
        auto made = std::make_shared<etcd_store::lock_settings>();
        for (std::size_t i = 0; i < servers; ++i)
            made->cluster.members.push_back(
                {.where = {.host = "m" + std::to_string(i), .port = 1, .path = {}},
                    .name = "m" + std::to_string(i)});
        made->cluster.connect_timeout = 1s;
        made->cluster.reconnect_min = 10ms;
        made->cluster.reconnect_max = 100ms;
        made->cluster.user = user;
        made->client_name = "client";
        return made;
    }

    core::claim_id ask(std::uint64_t tag, std::string_view resource = "a",
        core::queueing queue = core::queueing::if_contended, core::duration ttl = 9s,
        bool whole_ttl = false)
    {
        core::owner_token token;
        token.text.fill('A');
        token.text[0] = static_cast<char>('A' + tag % 26);
        token.text[1] = static_cast<char>('a' + tag / 26);
        core::claim_params terms{.ttl = ttl, .drift = 10ms, .guard = 100ms, .queue = queue};
        terms.whole_ttl = whole_ttl;
        const core::claim_id id = core.attempt(tag, resource, token, terms, now);
        settle();
        return id;
    }

    /// Delivers bytes in both directions, and opens and closes connections, until all is quiet.
    void settle()
    {
        for (bool changed = true; changed;) {
            changed = false;
            if (core.wake_at() <= now)
                core.wake(now, now);
            for (std::size_t i = 0; i < links.size(); ++i)
                changed = follow(i) || changed;
            while (auto e = core.next_event())
                events.push_back(*e);
        }
    }
    /// The servers execute and answer everything.
    void serve()
    {
        for (bool any = true; any;) {
            any = false;
            settle();
            for (auto& each : links) {
                while (each && each->execute(now))
                    any = true;
                while (each && each->answer())
                    any = true;
                if (each)
                    each->tell_watches();
            }
            settle();
        }
    }
    void pass(core::duration length)
    {
        now += length;
        model.pass_to(now);
        settle();
    }
    /// The connection breaks. What has arrived may still be executed.
    std::unique_ptr<etcd_model_server> cut(std::size_t which)
    {
        auto broken = std::move(links[which]);
        core.connections()[which]->closed(asio::error::connection_reset, now);
        return broken;
    }
    etcd_model_server& server()
    {
        const auto found =
            std::find_if(links.begin(), links.end(), [](const auto& l) { return l != nullptr; });
        BOOST_REQUIRE((found != links.end()));
        return **found;
    }
    /// The only event since the last call.
    core::backend_event event()
    {
        BOOST_REQUIRE(events.size() == 1u);
        const core::backend_event e = events.front();
        events.clear();
        return e;
    }
    bool is_event(core::event_kind kind, std::uint64_t tag)
    {
        const core::backend_event e = event();
        return e.kind == kind && e.tag == tag;
    }
    std::vector<std::string> requests()
    {
        std::vector<std::string> paths;
        for (const auto& each : server().waiting())
            paths.push_back(each.path.substr(each.path.rfind('/') + 1));
        return paths;
    }

    etcd_model& model;
    core::time_point now = core::time_point(1000s);
    etcd_store::lock_core core;
    std::vector<std::unique_ptr<etcd_model_server>> links;
    std::vector<core::backend_event> events;
    bool reachable = true; ///< else connections are not opened, and not refused

private:
    bool follow(std::size_t i)
    {
        core::connection& c = *core.connections()[i];
        if (c.wants_open() && links[i] == nullptr) {
            if (!reachable) {
                opening.insert(i);
                return false;
            }
            opening.erase(i);
            links[i] = std::make_unique<etcd_model_server>(model);
            c.opened(now);
            return true;
        }
        if (!c.wants_open() && opening.erase(i) != 0) {
            c.closed(asio::error::operation_aborted, now);
            return true;
        }
        if (!c.wants_open() && links[i] != nullptr) {
            old.push_back(std::move(links[i]));
            c.closed(asio::error::operation_aborted, now);
            return true;
        }
        if (links[i] == nullptr)
            return false;
        bool changed = false;
        c.prepare_output();
        if (const std::string_view out = c.output(); !out.empty()) {
            links[i]->receive(out);
            c.written(out.size(), now);
            changed = true;
        }
        std::string in = links[i]->output();
        for (std::string_view rest = in; !rest.empty() && c.wants_open();) {
            const auto space = c.read_space();
            const std::size_t n = rest.copy(space.data(), space.size());
            rest.remove_prefix(n);
            c.received(n, now);
            changed = true;
        }
        return changed;
    }

    std::set<std::size_t> opening;

public:
    std::vector<std::unique_ptr<etcd_model_server>> old; ///< of connections that were given up
};

/// Two stores of locks in one cluster, as in two processes.
struct etcd_pair {
    etcd_model model;
    etcd_client a{model}, b{model, 1, 2};

    // `a` has the resource.
    core::claim_id hold(std::uint64_t tag = 1)
    {
        const core::claim_id id = a.ask(tag);
        a.serve();
        BOOST_TEST(a.is_event(core::event_kind::granted, tag));
        return id;
    }
    // `b` waits behind it.
    core::claim_id queue(std::uint64_t tag = 2)
    {
        const core::claim_id id = b.ask(tag);
        b.serve();
        BOOST_TEST(b.is_event(core::event_kind::queued, tag));
        return id;
    }
    std::size_t keys() const { return model.keys().size(); }
};

} // namespace holdfast::test
