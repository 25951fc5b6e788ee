#pragma once

#include "verification/stores/referee.hpp"
#include "verification/stores/zookeeper/ensemble.hpp"

#include <string>

namespace holdfast::zookeeper_simulation {

// Compares what processes believe with what is committed: a process with a lease has a node,
// which is the first of its queue, even if nobody else wants the resource.
class queue_judge {
public:
    queue_judge(world& w, const ensemble& all, const store_simulation::referee& beliefs)
        : world_(w),
          all_(all),
          beliefs_(beliefs)
    {}

    // To be called when something is committed or granted.
    void look();

    static std::string queue_of(const std::string& resource) { return "/holdfast/" + resource; }

private:
    world& world_;
    const ensemble& all_;
    const store_simulation::referee& beliefs_;
    bool told_ = false;
};

} // namespace holdfast::zookeeper_simulation
