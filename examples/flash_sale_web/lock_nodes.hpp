#pragma once

#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"

#include <holdfast/endpoint.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace flash_sale_web {

/// The Redis servers of the locks, each behind a proxy that can cut its network.
class lock_nodes {
public:
    enum class state { up, killed, cut };

    explicit lock_nodes(std::size_t count);

    std::size_t count() const { return nodes_.size(); }
    state of(std::size_t node) const { return nodes_.at(node).is; }
    bool all_up() const;
    /// Of the proxies: what clients connect to.
    std::vector<holdfast::endpoint> endpoints() const;
    std::string address(std::size_t node) const;

    // Each returns false, and does nothing, in another state than the one it begins with.
    bool kill(std::size_t node);    ///< up: SIGKILL, and everything that it stored is lost
    bool restart(std::size_t node); ///< killed: starts it, empty
    bool cut(std::size_t node);     ///< up: nothing arrives any more, in both directions
    bool join(std::size_t node);    ///< cut: what was on its way arrives now

private:
    struct member {
        member() : proxy(server.port()) {}
        holdfast::test::redis_server server;
        holdfast::test::fault_proxy proxy;
        state is = state::up;
    };
    std::vector<member> nodes_;
};

} // namespace flash_sale_web
