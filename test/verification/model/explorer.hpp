#pragma once

#include "verification/model/packing.hpp"
#include "verification/model/protocol.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::model {

// The set of reached states. Each has a number.
class state_set {
public:
    explicit state_set(std::size_t width);

    struct place {
        std::uint32_t number;
        bool is_new;
    };
    place add(const packed& p, std::uint32_t parent);

    packed at(std::uint32_t which) const noexcept;
    std::uint32_t parent(std::uint32_t which) const noexcept;
    std::size_t size() const noexcept { return size_; }
    std::size_t bytes() const noexcept;

private:
    static constexpr std::size_t chunk = 1u << 18; // states

    bool equal(std::uint32_t which, const packed& p) const noexcept;
    std::uint64_t hash(const packed& p) const noexcept;
    void grow();

    std::size_t width_, size_ = 0;
    std::vector<std::unique_ptr<std::uint32_t[]>> chunks_; // the words of a state, and its parent
    std::vector<std::uint32_t> slots_;                     // number + 1; 0: free
};

struct finding {
    unsigned violated = none; // by the last step
    bool complete = false;    // all reachable states were explored
    std::size_t states = 0, transitions = 0, rounds = 0, bytes = 0;
    unsigned depth = 0;             // steps
    std::vector<std::string> story; // a shortest sequence of steps to the violation
};

// Explores breadth first, until a violation or until more than `most_states` states are reached.
finding explore(const protocol& p, std::size_t most_states, unsigned wanted);

} // namespace holdfast::model
