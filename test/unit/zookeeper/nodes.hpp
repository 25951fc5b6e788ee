#pragma once

#include "zookeeper/wire/messages.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

namespace wire = zookeeper_store::wire;

/// The nodes and sessions of an ensemble that always agrees with itself.
struct zk_nodes {
    struct node {
        std::int64_t created = 0, owner = 0;
        std::string data{};
        std::int32_t counter = 0;
    };
    struct reply {
        std::int32_t error = 0;
        wire::reply_body body{};
    };

    std::map<std::string, node> nodes{{"/", {}}};
    std::set<std::int64_t> sessions;
    std::int64_t zxid = 0x100000000, last_session = 0x1000;
    std::int32_t timeout_ms = 9'000;
    /// An error instead of the effect.
    std::function<std::int32_t(const wire::request&)> refuses = [](const auto&) {
        return 0;
    };
    /// Called with each change of a node and its kind.
    std::function<void(const std::string&, std::int32_t)> tells = [](const auto&, auto) {
    };

    static std::string parent(const std::string& path)
    {
        const auto slash = path.rfind('/');
        return slash == 0 ? "/" : path.substr(0, slash);
    }
    std::vector<std::string> children(const std::string& folder) const
    {
        std::vector<std::string> all;
        const std::string prefix = folder == "/" ? folder : folder + '/';
        for (auto each = nodes.upper_bound(prefix);
             each != nodes.end() && each->first.starts_with(prefix); ++each) {
            if (each->first.find('/', prefix.size()) == std::string::npos)
                all.push_back(each->first.substr(prefix.size()));
        }
        return all;
    }
    std::int64_t begin_session()
    {
        sessions.insert(++last_session);
        ++zxid;
        return last_session;
    }
    void end_session(std::int64_t session)
    {
        sessions.erase(session);
        std::vector<std::string> gone;
        for (const auto& [path, n] : nodes) {
            if (n.owner == session)
                gone.push_back(path);
        }
        ++zxid;
        for (const auto& path : gone)
            remove(path);
    }
    void remove(const std::string& path)
    {
        nodes.erase(path);
        tells(path, wire::change::deleted);
        tells(parent(path), wire::change::children);
    }
    /// Of another client.
    std::string put(std::string path, bool sequential = true, std::int64_t owner = 1)
    {
        return create(std::move(path), sequential, owner, "").first;
    }
    std::pair<std::string, std::int32_t> create(
        std::string path, bool sequential, std::int64_t owner, std::string data)
    {
        const auto folder = nodes.find(parent(path));
        if (folder == nodes.end())
            return {{}, wire::code::no_node};
        if (sequential) {
            char digits[16];
            std::snprintf(digits, sizeof digits, "%010d", folder->second.counter);
            path += digits;
        }
        if (nodes.contains(path))
            return {{}, wire::code::node_exists};
        if (folder->second.counter != INT32_MAX || wraps)
            folder->second.counter =
                static_cast<std::int32_t>(static_cast<std::uint32_t>(folder->second.counter) + 1u);
        nodes[path] = {.created = ++zxid, .owner = owner, .data = std::move(data)};
        tells(path, wire::change::created);
        tells(parent(path), wire::change::children);
        return {path, 0};
    }
    bool wraps = true; ///< else the counter stands still at its end

    reply execute(const wire::request& r, std::int64_t session)
    {
        reply out{.error = sessions.contains(session) ? refuses(r) : wire::code::session_expired};
        if (out.error != 0)
            return out;
        const auto found = nodes.find(r.path);
        switch (r.what) {
        case wire::operation::create:
        case wire::operation::create2:
        case wire::operation::create_container: {
            const bool sequential = r.mode == wire::node_mode::ephemeral_sequential;
            const bool ephemeral = sequential || r.mode == wire::node_mode::ephemeral;
            auto [path, error] = create(r.path, sequential, ephemeral ? session : 0, r.data);
            out.error = error;
            if (error == 0)
                out.body = {.path = path, .stat = stat(nodes[path])};
            break;
        }
        case wire::operation::remove:
            out.error = found == nodes.end() ? wire::code::no_node : 0;
            if (out.error == 0) {
                ++zxid;
                remove(r.path);
            }
            break;
        case wire::operation::sync:
            out.body.path = r.path;
            break;
        case wire::operation::close_session:
            end_session(session);
            break;
        default:
            if (found == nodes.end()) {
                out.error = wire::code::no_node;
            } else {
                out.body.stat = stat(found->second);
                out.body.data = found->second.data;
                out.body.children = children(r.path);
            }
        }
        return out;
    }
    static wire::node_stat stat(const node& n) { return {.created = n.created, .owner = n.owner}; }
};

} // namespace holdfast::test
