#pragma once

#include "core/connection.hpp"
#include "redis/dialect/fence_settings.hpp"

#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "support/node_record.hpp"
#include "support/redis_model.hpp"
#include "support/times.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace holdfast::fuzz {

using namespace std::chrono_literals;

inline constexpr redis::fence_settings fence_terms{.quarantine = 60s, .ahead = 1s};

// The model of a server (test/verification/fidelity compares it with a real one), and the bytes
// under way to it and from it. The node is slow, forgets data and closes connections, but never
// gives a wrong answer.
class fenced_node {
public:
    // One client's connection.
    struct connection {
        core::connection* end = nullptr;
        test::redis_model::session session;
        std::string there, back;
        bool open = false;
    };

    fenced_node(std::size_t number, std::size_t client_count)
        : clients(client_count),
          name_("run" + std::to_string(number) + "-"),
          server_(name_ + "0")
    {
        server_.on_push = [this](std::uint64_t session, std::string_view bytes) {
            for (connection& c : clients) {
                if (c.open && c.session.id == session)
                    c.back += bytes;
            }
        };
        test::remember(server_, fence_terms, name_ + "0");
    }
    // Not copyable: the push handler refers to this object.
    fenced_node(const fenced_node&) = delete;
    fenced_node& operator=(const fenced_node&) = delete;

    std::vector<connection> clients;
    std::chrono::milliseconds clock_is_ahead{};

    // Opens and closes connections as the cores want, like the I/O layer; true if any changed.
    bool follow(core::time_point now)
    {
        bool changed = false;
        for (connection& c : clients) {
            if (c.open == c.end->wants_open())
                continue;
            changed = true;
            if (c.open) {
                close(c, false, boost::asio::error::operation_aborted, now);
            } else {
                c.open = true;
                c.end->opened(now);
            }
        }
        return changed;
    }

    // `late`: the bytes under way to the node still arrive at some time.
    void close(connection& c, bool late, error_code why, core::time_point now)
    {
        if (late && !c.there.empty())
            late_.emplace_back(std::move(c.session), std::move(c.there));
        c.open = false;
        c.session = {};
        c.there.clear();
        c.back.clear();
        c.end->closed(why, now);
    }

    // Takes up to `most` bytes of a core's output; true if there were any.
    bool take(connection& c, std::size_t most, core::time_point now)
    {
        if (!c.open || !c.end->wants_open() || c.end->output().empty())
            return false;
        const std::size_t n = std::min(most, c.end->output().size());
        c.there.append(c.end->output().substr(0, n));
        c.end->written(n, now);
        return true;
    }

    bool execute(connection& c, core::time_point now)
    {
        if (!c.open || c.there.empty())
            return false;
        server_.receive(c.session, std::exchange(c.there, {}), wall(now), c.back);
        return true;
    }

    bool deliver(connection& c, std::size_t most, core::time_point now)
    {
        if (!c.open || !c.end->wants_open() || c.back.empty())
            return false;
        const std::span<char> space = c.end->read_space();
        const std::size_t n = std::min({most, c.back.size(), space.size()});
        const std::string bytes = c.back.substr(0, n);
        c.back.erase(0, n);
        std::memcpy(space.data(), bytes.data(), n);
        c.end->received(n, now);
        return true;
    }

    void execute_what_is_late(core::time_point now)
    {
        for (auto& [session, bytes] : std::exchange(late_, {})) {
            std::string nowhere;
            server_.receive(session, bytes, wall(now), nowhere);
        }
    }

    void restart(bool remembers, core::time_point now)
    {
        test::redis_model::data contents(server_.contents().size());
        if (remembers)
            contents = server_.contents();
        late_.clear();
        server_.restart(name_ + std::to_string(++starts_), std::move(contents));
        for (connection& c : clients) {
            if (c.open)
                close(c, false, boost::asio::error::connection_reset, now);
        }
    }

    void forget_scripts() { server_.forget_scripts(); }

    void lose_locks(core::time_point now)
    {
        for (const std::string& key : locks(now))
            command("DEL " + key, now);
    }

    // Notifies the first waiter in a queue of its turn. Waiters must expect false notifications.
    void mislead(const std::string& resource, core::time_point now)
    {
        const auto* const queue = server_.find("hf:q:" + resource, wall(now));
        if (queue == nullptr || queue->members.empty())
            return;
        const std::string place = queue->members.all().front().second;
        command("PUBLISH " + place.substr(48) + " " + place.substr(0, 48), now);
    }

    // The existing keys of locks.
    std::vector<std::string> locks(core::time_point now) const
    {
        std::vector<std::string> all;
        for (const auto& [key, item] : server_.contents()[0]) {
            if (key.starts_with("hf:l:") && server_.find(key, wall(now)) != nullptr)
                all.push_back(key);
        }
        return all;
    }

private:
    test::redis_model::time wall(core::time_point now) const
    {
        return std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch()) +
               clock_is_ahead;
    }

    void command(const std::string& line, core::time_point now)
    {
        test::redis_model::session other;
        std::string reply;
        server_.receive(other, line + "\r\n", wall(now), reply);
        check(!reply.starts_with('-'), "the fuzzer's own commands succeed");
    }

    std::string name_;
    test::redis_model server_;
    int starts_ = 0;
    std::vector<std::pair<test::redis_model::session, std::string>> late_;
};

} // namespace holdfast::fuzz
