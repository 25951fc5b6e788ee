#pragma once

#include "integration/workers.hpp"

namespace holdfast::test {

/// A fault that a test causes in the nodes or the network.
struct trouble {
    std::function<void()> begin, end;
    std::function<void()> meanwhile{}; ///< called repeatedly between them
};

/// Expects that work and leases go on, during the trouble and after it.
void expect_no_harm(team& t, const trouble& what);

/// Expects that no work is done during the trouble, once leases have ended: waiters fail with
/// `error`, and the holder is told before its lease ends. Afterwards work goes on.
void expect_standstill(team& t, const trouble& what, errc error);

/// Blocks until everything that was granted or renewed before `moment` has ended.
void wait_for_a_ttl_since(steady::time_point moment);

/// An action on one node.
using action = std::function<void(redis_server&)>;

/// Three nodes, and processes that contend for locks.
struct contended_cluster {
    void start(const std::vector<std::string>& arguments = {}, const job& keeping = long_job());

    /// Applied to the first `count` nodes.
    std::function<void()> on_each(std::size_t count, const action& what);
    trouble on(std::size_t count, const action& begin, const action& end);

    /// Ends the workers, checks their histories, and expects that no node keeps a key of them.
    void finish();

    std::optional<cluster> nodes;
    team workers;
};

} // namespace holdfast::test
