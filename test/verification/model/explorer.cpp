#include "verification/model/explorer.hpp"

#include "verification/model/story.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace holdfast::model {

state_set::state_set(std::size_t width) : width_(width), slots_(1u << 16) {}

// Source: the finalizer of MurmurHash3.
std::uint64_t state_set::hash(const packed& p) const noexcept
{
    std::uint64_t h = 0;
    for (std::size_t i = 0; i < width_; ++i) {
        h = (h ^ p[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

bool state_set::equal(std::uint32_t which, const packed& p) const noexcept
{
    const std::uint32_t* const words = &chunks_[which / chunk][which % chunk * (width_ + 1)];
    return std::equal(words, words + width_, p.begin());
}

packed state_set::at(std::uint32_t which) const noexcept
{
    packed p{};
    const std::uint32_t* const words = &chunks_[which / chunk][which % chunk * (width_ + 1)];
    std::copy(words, words + width_, p.begin());
    return p;
}

std::uint32_t state_set::parent(std::uint32_t which) const noexcept
{
    return chunks_[which / chunk][which % chunk * (width_ + 1) + width_];
}

std::size_t state_set::bytes() const noexcept
{
    return 4 * (chunks_.size() * chunk * (width_ + 1) + slots_.size());
}

state_set::place state_set::add(const packed& p, std::uint32_t parent)
{
    if (size_ * 4 >= slots_.size() * 3)
        grow();
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash(p) & mask;
    while (slots_[at] != 0) {
        if (equal(slots_[at] - 1, p))
            return {slots_[at] - 1, false};
        at = (at + 1) & mask;
    }
    if (size_ % chunk == 0)
        chunks_.push_back(std::make_unique_for_overwrite<std::uint32_t[]>(chunk * (width_ + 1)));
    std::uint32_t* const words = &chunks_.back()[size_ % chunk * (width_ + 1)];
    std::copy(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(width_), words);
    words[width_] = parent;
    slots_[at] = static_cast<std::uint32_t>(++size_);
    return {slots_[at] - 1, true};
}

void state_set::grow()
{
    std::vector<std::uint32_t> larger(slots_.size() * 2);
    slots_.swap(larger);
    larger = {};
    const std::size_t mask = slots_.size() - 1;
    for (std::uint32_t i = 0; i < size_; ++i) {
        std::size_t at = hash(state_set::at(i)) & mask;
        while (slots_[at] != 0)
            at = (at + 1) & mask;
        slots_[at] = i + 1;
    }
}

namespace {

packed canonical(const world& w, const protocol& p)
{
    return canonical(w, p.size().nodes, p.clients_are_alike(), p.rounds());
}

// All initial states, without those that differ only in the names of nodes.
std::vector<world> beginnings(const scope& s)
{
    std::vector<unsigned> counters;
    for (unsigned i = 0; i < largest_token; ++i) {
        if ((s.counters >> i & 1) != 0)
            counters.push_back(i);
    }
    std::vector<world> all;
    std::array<std::size_t, most_nodes> picked{};
    for (;;) {
        if (std::is_sorted(picked.begin(), picked.begin() + static_cast<std::ptrdiff_t>(s.nodes))) {
            world w;
            for (std::size_t i = 0; i < s.nodes; ++i)
                w.nodes[i].counter = static_cast<number>(counters[picked[i]]);
            all.push_back(w);
        }
        std::size_t i = 0;
        while (i < s.nodes && ++picked[i] == counters.size())
            picked[i++] = 0;
        if (i == s.nodes)
            return all;
    }
}

// The steps from an initial state to `last`. The stored ancestors are canonical, without fixed
// names of nodes and clients, so the steps are repeated with fixed names.
std::vector<std::string> tell(const protocol& p, const state_set& states,
    const std::vector<world>& begun, std::uint32_t last, unsigned wanted)
{
    std::vector<packed> path;
    for (std::uint32_t at = last;; at = states.parent(at)) {
        path.push_back(states.at(at));
        if (states.parent(at) == at)
            break;
    }
    std::reverse(path.begin(), path.end());
    world w = *std::find_if(begun.begin(), begun.end(),
        [&](const world& b) { return canonical(b, p) == path.front(); });
    std::vector<std::string> story{describe_beginning(w, p)};
    std::vector<step> possible;
    for (std::size_t i = 1; i < path.size(); ++i) {
        p.steps(w, possible);
        for (const step& s : possible) {
            world next = w;
            p.take(next, s);
            if (canonical(next, p) == path[i]) {
                story.push_back(describe(s, w, next, p));
                w = next;
                break;
            }
        }
    }
    // The violating step may have another name here: take the first step that violates.
    p.steps(w, possible);
    for (const step& s : possible) {
        world next = w;
        if ((p.take(next, s) & wanted) != none) {
            story.push_back(describe(s, w, next, p));
            break;
        }
    }
    return story;
}

} // namespace

finding explore(const protocol& p, std::size_t most_states, unsigned wanted)
{
    finding f;
    state_set states(words(p.size().nodes));
    const std::vector<world> begun = beginnings(p.size());
    for (const world& w : begun) {
        const auto itself = static_cast<std::uint32_t>(states.size());
        states.add(canonical(w, p), itself);
    }
    std::vector<step> possible;
    std::size_t level_end = states.size();
    for (std::uint32_t at = 0; at < states.size() && f.violated == none; ++at) {
        if (at == level_end) {
            ++f.depth;
            level_end = states.size();
        }
        if (states.size() > most_states)
            break;
        const world w = unpack(states.at(at), p.size().nodes);
        if (p.over(w))
            continue;
        p.steps(w, possible);
        for (const step& s : possible) {
            world next = w;
            f.violated = p.take(next, s) & wanted;
            ++f.transitions;
            if (f.violated != none) {
                f.story = tell(p, states, begun, at, wanted);
                break;
            }
            states.add(canonical(next, p), at);
        }
    }
    f.states = states.size();
    f.complete = f.violated == none && states.size() <= most_states;
    f.rounds = p.rounds().size();
    f.bytes = states.bytes();
    return f;
}

} // namespace holdfast::model
