#pragma once

#include "support/call.hpp"
#include "support/run.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/test/data/test_case.hpp>

#include <cstddef>
#include <ostream>
#include <vector>

namespace holdfast::test {

/// A backend that must satisfy the contract.
struct subject {
    const char* name;
    std::size_t nodes; ///< 0: in memory
    bool fenced;       ///< whether leases carry a fencing token

    /// Returns the same store each time. Nodes are started at the first use and run until the end.
    backend make() const;

    friend std::ostream& operator<<(std::ostream& out, const subject& s) { return out << s.name; }
};

/// All backends. Every case of the contract runs once on each. A new backend is one more line here.
inline const std::vector<subject> every_backend{
    {"memory", 0, true},
    {"one node", 1, false},
    {"three nodes", 3, false},
    {"five nodes", 5, false},
};

/// Short, so that tests wait little, but long enough for a busy machine to renew in time.
inline lock_options brief(std::chrono::milliseconds ttl = 3s)
{
    lock_options options;
    options.ttl = ttl;
    return options;
}

inline lock_options unrenewed(std::chrono::milliseconds ttl = 1s)
{
    lock_options options = brief(ttl);
    options.renewal = renewal::manual;
    options.guard = ttl / 2; // a busy machine may notice late
    return options;
}

} // namespace holdfast::test
