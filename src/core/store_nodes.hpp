#pragma once

#include <holdfast/error.hpp>
#include <holdfast/stats.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::core {

class journal;

// The nodes of a store, as its users see them: an optional part of the seam.
class store_nodes {
public:
    // Why no attempt can succeed now: so few connections work that a majority is out of reach, and
    // each of the others has failed when it was last tried. None where an attempt may succeed.
    virtual errc cut_off() const noexcept { return errc{}; }

    virtual std::vector<node_stats> stats() const { return {}; }
    // The address in stats() alone: cheap enough for each vote.
    virtual std::string name(std::size_t /*node*/) const { return {}; }

    // From now on, changes of nodes and their votes are told to observers. To be called at most
    // once, before anything else. The journal lives as long as other calls are made.
    virtual void report_to(journal&) noexcept {}

protected:
    ~store_nodes() = default;
};

} // namespace holdfast::core
