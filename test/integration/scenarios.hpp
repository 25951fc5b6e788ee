#pragma once

#include "integration/workers.hpp"

namespace holdfast::test {

/// What a test does to the nodes or the network.
struct trouble {
    std::function<void()> begin, end;
    std::function<void()> meanwhile{}; ///< again and again in between
};

/// Work and leases go on, during the trouble and after it.
void expect_no_harm(team& t, const trouble& what);

/// During the trouble, once leases are over, nobody works: those who wait fail with `error`, and
/// the holder is told before its lease ends. Afterwards everything goes on.
void expect_standstill(team& t, const trouble& what, errc error);

/// Blocks until whatever was granted or renewed before `moment` has ended.
void wait_for_a_ttl_since(steady::time_point moment);

/// What is done to one node.
using action = std::function<void(redis_server&)>;

/// Three nodes, and processes that contend.
struct contended_cluster {
    void start(const std::vector<std::string>& arguments = {}, const job& keeping = long_job());

    /// For the first `count` nodes.
    std::function<void()> on_each(std::size_t count, const action& what);
    trouble on(std::size_t count, const action& begin, const action& end);

    /// Ends the workers, judges them, and expects that no node keeps anything of them.
    void finish();

    std::optional<cluster> nodes;
    team workers;
};

} // namespace holdfast::test
