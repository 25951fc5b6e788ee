#pragma once

#include "zookeeper/wire/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// A transaction of a modelled ZooKeeper ensemble: what the leader has made of a request.
struct zookeeper_change {
    /// How one begins that no client has asked for: a new session.
    static constexpr auto create_session = zookeeper_store::wire::operation(-10);

    zookeeper_store::wire::operation what{};
    std::int64_t session = 0;
    std::int64_t zxid = 0;
    std::int64_t ms = 0;    ///< when, since the epoch
    std::int32_t error = 0; ///< if not 0, nothing else happens
    std::string path{};     ///< of a new node with its sequence number
    std::string data{};
    zookeeper_store::wire::node_mode mode{};
    std::int32_t creations = 0;      ///< under the parent, with this one
    std::int32_t timeout_ms = 0;     ///< of a new session
    std::vector<std::string> ends{}; ///< the nodes that end with the session
};

/// The data of one ZooKeeper server: nodes and sessions, without time and network. A leader
/// prepares transactions on one copy of them, and every server applies these on its own.
///
/// Left out: rights (everybody may do everything), quotas, nodes with a ttl.
class zookeeper_tree {
public:
    struct node {
        std::string data{};
        std::set<std::string, std::less<>> children{};                 ///< their last names
        std::int64_t created = 0, modified = 0, children_modified = 0; ///< zxids
        std::int64_t created_ms = 0, modified_ms = 0;
        std::int32_t version = 0;
        std::int32_t creations = 0; ///< under this node
        std::int64_t owner = 0;     ///< the session of an ephemeral node
        bool container = false;
    };
    /// The answer to a request.
    struct answer {
        std::int32_t error = 0;
        zookeeper_store::wire::reply_body body{};
    };
    /// What has happened to a node, for those who watch it.
    struct event {
        std::int32_t change = 0; ///< as in `wire::change`
        std::string path{};
    };

    zookeeper_tree();

    /// What becomes of a request that changes something, and the change at once. `session` is
    /// that of the client. This and apply() are not to be called for one and the same tree.
    zookeeper_change prepare(const zookeeper_store::wire::request& r, std::int64_t session,
        std::int64_t zxid, std::int64_t ms);
    zookeeper_change prepare_session(
        std::int64_t session, std::int32_t timeout_ms, std::int64_t zxid);
    zookeeper_change prepare_end(std::int64_t session, std::int64_t zxid);
    /// Of a container that is empty, as the servers do by themselves.
    zookeeper_change prepare_removal(const std::string& container, std::int64_t zxid);
    /// All that was prepared has been applied. From now on the numbers of creations are those of
    /// applied data, which never get smaller: they stop at the largest.
    void settle();

    /// What is told to watches is added to `events`, in order.
    answer apply(const zookeeper_change& c, std::vector<event>& events);

    answer read(const zookeeper_store::wire::request& r) const;

    const std::map<std::string, node, std::less<>>& nodes() const noexcept { return nodes_; }
    /// With their timeouts in milliseconds.
    const std::map<std::int64_t, std::int32_t>& sessions() const noexcept { return sessions_; }
    std::int64_t last_zxid() const noexcept { return last_zxid_; }
    /// Containers that servers may remove: empty ones that were not always empty.
    std::vector<std::string> idle_containers() const;
    /// As if there had been so many creations under the node.
    void set_creations(std::string_view path, std::int32_t creations);

    static std::string parent_of(std::string_view path);
    static bool is_valid(std::string_view path);

private:
    std::int32_t check(zookeeper_change& c, const zookeeper_store::wire::request& r) const;
    std::int32_t check_creation(zookeeper_change& c, bool has_rights) const;
    void create(const zookeeper_change& c, std::vector<event>& events);
    void remove(const std::string& path, std::int64_t zxid, std::vector<event>& events);
    static zookeeper_store::wire::node_stat stat_of(const node& n);

    std::map<std::string, node, std::less<>> nodes_;
    std::map<std::int64_t, std::int32_t> sessions_;
    std::int64_t last_zxid_ = 0;
    bool prepares_ = false;            // the numbers of creations go on after the largest
    std::set<std::string> overflowed_; // nodes for which they have
};

} // namespace holdfast::test
