#include "verification/model/explorer.hpp"

#include "verification/model/packing.hpp"
#include "verification/model/story.hpp"

#include <algorithm>

namespace holdfast::model {

namespace {

// The reached states, each with the one from which it was reached first.
class explorer {
public:
    explicit explorer(const protocol& p)
        : protocol_(p),
          packing_(p.size().nodes, p.size().attempts, p.rounds()),
          states_(packing_.width())
    {}

    finding explore(std::size_t most_states, unsigned wanted);

private:
    void add(const world& w, std::uint32_t parent)
    {
        naming names;
        if (states_.add(packing_.canonical(w, names)).is_new)
            parents_.push_back(parent);
    }
    std::vector<std::string> tell(std::uint32_t last, unsigned wanted);

    const protocol& protocol_;
    packing packing_;
    word_set states_;
    std::vector<std::uint32_t> parents_;
    std::vector<step> possible_;
};

// The steps from the beginning to `last`, and one more that violates. A state is stored in any
// order of nodes and attempts, so their names are followed from state to state.
std::vector<std::string> explorer::tell(std::uint32_t last, unsigned wanted)
{
    std::vector<std::uint32_t> path;
    for (std::uint32_t at = last; at != 0; at = parents_[at])
        path.push_back(at);
    path.push_back(0);
    std::reverse(path.begin(), path.end());
    naming names;
    std::vector<std::string> story;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const world w = packing_.unpack(states_.at(path[i]));
        protocol_.steps(w, possible_);
        for (const step& s : possible_) {
            world next = w;
            const bool violates = (protocol_.take(next, s) & wanted) != none;
            naming moved = names;
            const bool found =
                i + 1 == path.size()
                    ? violates
                    : states_.add(packing_.canonical(next, moved)).number == path[i + 1];
            if (found) {
                story.push_back(describe(s, w, next, names));
                names = moved;
                break;
            }
        }
    }
    return story;
}

finding explorer::explore(std::size_t most_states, unsigned wanted)
{
    finding f;
    add(protocol_.beginning(), 0);
    std::size_t level_end = states_.size();
    for (std::uint32_t at = 0; at < states_.size() && f.violated == none; ++at) {
        if (at == level_end) {
            ++f.depth;
            level_end = states_.size();
        }
        if (states_.size() > most_states)
            break;
        const world w = packing_.unpack(states_.at(at));
        if (protocol_.over(w))
            continue;
        protocol_.steps(w, possible_);
        for (const step& s : possible_) {
            world next = w;
            f.violated = protocol_.take(next, s) & wanted;
            ++f.transitions;
            f.leases += next.published != w.published ? 1u : 0u;
            if (f.violated != none) {
                f.story = tell(at, f.violated);
                break;
            }
            add(next, at);
        }
    }
    f.states = states_.size();
    f.complete = f.violated == none && states_.size() <= most_states;
    f.rounds = protocol_.rounds().size();
    f.bytes = states_.bytes() + packing_.bytes() + 4 * parents_.capacity();
    return f;
}

} // namespace

finding explore(const protocol& p, std::size_t most_states, unsigned wanted)
{
    return explorer(p).explore(most_states, wanted);
}

} // namespace holdfast::model
