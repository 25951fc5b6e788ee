#pragma once

#include "verification/model/protocol.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::model {

struct finding {
    unsigned violated = none; // by the last step
    bool complete = false;    // all reachable states were explored
    std::size_t states = 0, transitions = 0, leases = 0, rounds = 0, bytes = 0;
    unsigned depth = 0;             // steps
    std::vector<std::string> story; // a shortest sequence of steps to the violation
};

// Explores breadth first, until a violation or until more than `most_states` states are reached.
finding explore(const protocol& p, std::size_t most_states, unsigned wanted);

} // namespace holdfast::model
