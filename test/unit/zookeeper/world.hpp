#pragma once

#include "unit/zookeeper/nodes.hpp"
#include "zookeeper/lock_core.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

using namespace std::chrono_literals;
namespace zk = zookeeper_store;

/// One connection to a server.
class zk_link {
public:
    zk_link(zk_nodes& data, core::connection& client) : data_(data), client_(&client) {}

    std::deque<wire::request> requests; ///< that have arrived
    std::deque<std::string> replies;    ///< that were not delivered
    std::int64_t session = 0;
    std::set<std::string> watched, watched_folders;
    std::optional<wire::connect_request> greeting;
    bool greeted = false;

    /// Takes what the client has sent. True if there was something.
    bool take(core::time_point now)
    {
        const std::string_view out = client_->output();
        if (out.empty())
            return false;
        in_.append(out);
        client_->written(out.size(), now);
        while (const auto record = in_.next()) {
            if (!greeting)
                greeting = wire::read_connect_request(*record);
            else
                requests.push_back(wire::read_request(*record).value());
        }
        return true;
    }
    void greet()
    {
        if (!greeting || std::exchange(greeted, true))
            return;
        wire::connect_reply reply{.password = std::string(16, 'p')};
        if (greeting->session == 0)
            session = data_.begin_session();
        else if (data_.sessions.contains(greeting->session))
            session = greeting->session;
        if (session != 0)
            reply.timeout_ms = data_.timeout_ms;
        reply.session = session;
        replies.push_back(wire::encode(reply));
    }
    bool execute()
    {
        greet();
        if (requests.empty())
            return false;
        const wire::request r = std::move(requests.front());
        requests.pop_front();
        if (r.what == wire::operation::authenticate) {
            replies.push_back(wire::encode(wire::reply_header{
                .number = r.number, .zxid = data_.zxid, .error = data_.refuses(r)}));
            return true;
        }
        const auto answer = data_.execute(r, session);
        if (r.watch && (answer.error == 0 || r.what == wire::operation::exists))
            (r.what == wire::operation::get_children ? watched_folders : watched).insert(r.path);
        const wire::reply_header header{
            .number = r.number, .zxid = data_.zxid, .error = answer.error};
        replies.push_back(
            answer.error == 0 ? wire::encode(header, r.what, answer.body) : wire::encode(header));
        return true;
    }
    void tell(const std::string& path, std::int32_t what)
    {
        auto& set = what == wire::change::children ? watched_folders : watched;
        if (set.erase(path) != 0)
            replies.push_back(
                wire::encode(wire::watch_event{.change = what, .state = 3, .path = path}));
    }
    void deliver(core::time_point now)
    {
        send(wire::framed(replies.front()), now);
        replies.pop_front();
    }
    void send(std::string_view bytes, core::time_point now)
    {
        while (!bytes.empty() && client_->wants_open()) {
            const auto space = client_->read_space();
            const std::size_t n = std::min(space.size(), bytes.size());
            std::copy_n(bytes.begin(), n, space.begin());
            bytes.remove_prefix(n);
            client_->received(n, now);
        }
    }

private:
    zk_nodes& data_;
    core::connection* client_;
    wire::frame_reader in_{wire::longest_record};
};

/// One store of locks, and its connections. Time passes by pass() alone.
class zk_world {
public:
    explicit zk_world(
        std::size_t servers = 1,
        const std::function<void(zk::lock_settings&)>& change = [](auto&) {})
        : core(settings(servers, change), 1),
          links(servers)
    {
        data.tells = [this](const std::string& path, std::int32_t what) {
            for (auto& each : links) {
                if (each)
                    each->tell(path, what);
            }
        };
    }

    static std::shared_ptr<const zk::lock_settings> settings(
        std::size_t servers, const std::function<void(zk::lock_settings&)>& change)
    {
        auto made = std::make_shared<zk::lock_settings>();
        for (std::size_t i = 0; i < servers; ++i)
            made->ensemble.servers.push_back(
                {.where = {.host = "s" + std::to_string(i), .port = 1, .path = {}},
                    .name = "s" + std::to_string(i)});
        made->ensemble.session_timeout = 9s;
        made->ensemble.connect_timeout = 1s;
        made->ensemble.reconnect_min = 10ms;
        made->ensemble.reconnect_max = 100ms;
        made->root = "/locks";
        made->rights = {{31, "world", "anyone"}};
        made->client_name = "client";
        change(*made);
        return made;
    }

    core::claim_id ask(std::uint64_t tag, std::string_view resource = "a",
        core::queueing queue = core::queueing::if_contended, core::duration ttl = 9s)
    {
        core::owner_token token;
        token.text.fill('A');
        token.text[0] = static_cast<char>('A' + tag % 26);
        token.text[1] = static_cast<char>('a' + tag / 26 % 26);
        token.text[2] = static_cast<char>('a' + tag / 676 % 26);
        token.text[3] = static_cast<char>('a' + tag / 17576 % 26);
        return core.attempt(
            tag, resource, token, {.ttl = ttl, .drift = 10ms, .guard = 100ms, .queue = queue}, now);
    }
    /// Opens and closes connections, and lets requests arrive, until all is quiet.
    void settle()
    {
        for (bool changed = true; changed;) {
            changed = false;
            if (core.wake_at() <= now)
                core.wake(now);
            for (std::size_t i = 0; i < links.size(); ++i)
                changed = follow(i) || changed;
            while (auto e = core.next_event())
                events.push_back(*e);
        }
    }
    /// The servers execute and answer everything.
    void serve()
    {
        settle();
        for (bool any = true; any;) {
            any = false;
            for (auto& each : links) {
                while (each && !silent && each->execute())
                    any = true;
                if (each && !silent)
                    each->greet();
                while (each && !silent && !each->replies.empty()) {
                    any = true;
                    each->deliver(now);
                }
            }
            settle();
        }
    }
    /// In steps, with servers that answer at once.
    void pass(core::duration length, core::duration step = 50ms)
    {
        for (core::duration done{}; done < length; done += step) {
            now += step;
            serve();
        }
    }
    /// The connection breaks. What has arrived may still be executed.
    std::unique_ptr<zk_link> cut(std::size_t which = 0)
    {
        auto broken = std::move(links[which]);
        core.connections()[which]->closed(asio::error::connection_reset, now);
        return broken;
    }
    void cut_all()
    {
        for (std::size_t i = 0; i < links.size(); ++i) {
            if (links[i])
                cut(i);
        }
    }
    zk_link& link()
    {
        const auto found =
            std::find_if(links.begin(), links.end(), [](const auto& l) { return l != nullptr; });
        BOOST_REQUIRE((found != links.end()));
        return **found;
    }
    std::vector<core::backend_event> take_events() { return std::exchange(events, {}); }
    /// The only event since the last call.
    core::backend_event event()
    {
        BOOST_REQUIRE(events.size() == 1u);
        return take_events().front();
    }
    core::claim_id grant(std::uint64_t tag, std::string_view resource = "a")
    {
        const core::claim_id id = ask(tag, resource);
        serve();
        BOOST_TEST((event().kind == core::event_kind::granted));
        return id;
    }
    std::vector<std::string> queue(const std::string& resource = "a") const
    {
        return data.children("/locks/" + resource);
    }

    zk_nodes data;
    core::time_point now{std::chrono::hours(1)};
    zk::lock_core core;
    std::vector<std::unique_ptr<zk_link>> links;
    std::vector<core::backend_event> events;
    bool silent = false; ///< servers execute nothing

private:
    bool follow(std::size_t i)
    {
        core::connection& c = *core.connections()[i];
        if (c.wants_open() && !links[i]) {
            links[i] = std::make_unique<zk_link>(data, c);
            c.opened(now);
            return true;
        }
        if (!c.wants_open() && links[i]) {
            links[i].reset();
            c.closed({}, now);
            return true;
        }
        return links[i] && links[i]->take(now);
    }
};

} // namespace holdfast::test
