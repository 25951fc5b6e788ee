#pragma once

#include "verification/model/word_set.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::model {

inline constexpr unsigned no_violation = 0;

struct finding {
    unsigned violated = no_violation; // by the last step
    bool complete = false;            // all reachable states were explored
    std::size_t states = 0, transitions = 0, grants = 0, bytes = 0;
    unsigned depth = 0;             // steps
    std::vector<std::string> story; // a shortest sequence of steps to the violation
};

// Explores a system breadth first: the reached states, each with the one from which it was reached
// first. A system has
//
//   world, step, naming            a state; what may happen; names of what may change places in it
//   world beginning()
//   void steps(world, vector<step>&)             the possible steps
//   unsigned take(world&, step)                  takes one; returns its violations, a bit each
//   bool over(world)                             whether no step matters any more
//   bool grants(world before, world after)       whether a lease was granted between them
//   size_t width()                               of a packed state, in words
//   words canonical(world, naming&)              packs one of the states that are alike
//   world unpack(const uint32_t*)
//   string describe(step, world before, world after, naming)
//   size_t bytes()                               that it uses for itself
template <class System>
class explorer {
public:
    explicit explorer(System& system) : system_(system), states_(system.width()) {}

    // Until a violation, or until more than `most_states` states are reached.
    finding explore(std::size_t most_states, unsigned wanted);

private:
    using world = typename System::world;
    using step = typename System::step;
    using naming = typename System::naming;

    void add(const world& w, std::uint32_t parent)
    {
        naming names;
        if (states_.add(system_.canonical(w, names)).is_new)
            parents_.push_back(parent);
    }
    std::vector<std::string> tell(std::uint32_t last, unsigned wanted);

    System& system_;
    word_set states_;
    std::vector<std::uint32_t> parents_;
    std::vector<step> possible_;
};

// The steps from the beginning to `last`, and one more that violates. A state is stored with any
// names, so these are followed from state to state.
template <class System>
std::vector<std::string> explorer<System>::tell(std::uint32_t last, unsigned wanted)
{
    std::vector<std::uint32_t> path;
    for (std::uint32_t at = last; at != 0; at = parents_[at])
        path.push_back(at);
    path.push_back(0);
    std::reverse(path.begin(), path.end());
    naming names;
    std::vector<std::string> story;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const world w = system_.unpack(states_.at(path[i]));
        system_.steps(w, possible_);
        for (const step& s : possible_) {
            world next = w;
            const bool violates = (system_.take(next, s) & wanted) != no_violation;
            naming moved = names;
            const bool found =
                i + 1 == path.size()
                    ? violates
                    : states_.add(system_.canonical(next, moved)).number == path[i + 1];
            if (found) {
                story.push_back(system_.describe(s, w, next, names));
                names = moved;
                break;
            }
        }
    }
    return story;
}

template <class System>
finding explorer<System>::explore(std::size_t most_states, unsigned wanted)
{
    finding f;
    add(system_.beginning(), 0);
    std::size_t level_end = states_.size();
    for (std::uint32_t at = 0; at < states_.size() && f.violated == no_violation; ++at) {
        if (at == level_end) {
            ++f.depth;
            level_end = states_.size();
        }
        if (states_.size() > most_states)
            break;
        const world w = system_.unpack(states_.at(at));
        if (system_.over(w))
            continue;
        system_.steps(w, possible_);
        for (const step& s : possible_) {
            world next = w;
            f.violated = system_.take(next, s) & wanted;
            ++f.transitions;
            f.grants += system_.grants(w, next) ? 1u : 0u;
            if (f.violated != no_violation) {
                f.story = tell(at, f.violated);
                break;
            }
            add(next, at);
        }
    }
    f.states = states_.size();
    f.complete = f.violated == no_violation && states_.size() <= most_states;
    f.bytes = states_.bytes() + system_.bytes() + 4 * parents_.capacity();
    return f;
}

} // namespace holdfast::model
