#pragma once

#include "verification/model/baton/packing.hpp"
#include "verification/model/baton/protocol.hpp"
#include "verification/model/baton/story.hpp"
#include "verification/model/baton/variant.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace holdfast::model {

// Explores all that can happen to leases which processes give to each other, within a small scope:
// see baton.hpp of the library, and "Give" in docs/protocol.md. Three nodes, the first of which
// keeps the queue, and two or three processes with an attempt each. The scripts of the nodes and
// the rules of the processes are written anew here.
//
// A process asks all nodes with SET, or goes to the queue. What it sends later takes any time:
// renewals and their answers, deletions, the baton and its answer, the message that gives the
// lease. Requests for a place do so in scopes with `each_place`; the message and the answer that
// repeats it come in any order. An answer that never comes is lost with its connection, and then
// the request may still arrive. A message that is never read is lost.
//
// Time is in steps of the clock, which is the same everywhere: only durations matter, and the
// library subtracts the drift. A key lasts for its ttl from when the node executes the request, and
// counts for the holder from when it was sent. Those are up to two or three steps, so all ways to
// be late by a step or two occur.
//
// Required is, after each step: only one process counts a lease as valid; a majority of its keys
// is there as long as it does; no process deletes a key of a lease that another one has, or is
// about to get; and every key ends within the longest ttl.
//
// States that differ only in the names of the nodes without the queue are one state. Not modelled:
// that a giver needs 0.7 of the ttl and quick answers (here it may always give), several queues,
// repairs of lost keys, fencing tokens, windows, and more than one attempt of a process.
class baton_system {
public:
    using world = baton::world;
    using step = baton::step;
    using naming = baton::naming;
    using scope = baton::scope;
    using rules = baton::rules;
    using variant = baton::variant;

    static std::span<const scope> scopes() { return baton::scopes(); }
    static std::span<const variant> variants() { return baton::variants(); }
    static std::string names_of(unsigned violated) { return baton::names_of(violated); }

    baton_system(const scope& s, const rules& how) : protocol_(s, how) {}

    world beginning() const { return {}; }
    void steps(const world& w, std::vector<step>& found) const { protocol_.steps(w, found); }
    unsigned take(world& w, const step& s) const { return protocol_.take(w, s); }
    bool over(const world& w) const { return protocol_.over(w); }
    bool grants(const world& before, const world& after) const
    {
        for (std::size_t p = 0; p < baton::process_count; ++p) {
            if (!protocol_.believes(before, p) && protocol_.believes(after, p))
                return true;
        }
        return false;
    }
    std::size_t width() const { return packing_.width(); }
    words canonical(const world& w, naming& names) { return packing_.canonical(w, names); }
    world unpack(const std::uint32_t* from) const { return packing_.unpack(from); }
    std::string describe(
        const step& s, const world& before, const world& after, const naming& names) const
    {
        return baton::describe(s, before, after, names);
    }
    std::size_t bytes() const { return packing_.bytes(); }

private:
    baton::protocol protocol_;
    baton::packing packing_;
};

} // namespace holdfast::model
