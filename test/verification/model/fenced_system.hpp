#pragma once

#include "verification/model/packing.hpp"
#include "verification/model/protocol.hpp"
#include "verification/model/story.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace holdfast::model {

// Explores all behaviours of a fenced lock within a small scope: breadth first, each state once.
// The rounds are the library's own, redis::ballot_round over redis::vote_round. Nodes, messages and
// clients are modelled.
//
// A node has a key and a register. A client makes one attempt: it sends SET and behind it a ballot
// to all nodes, on a connection of its own to each. The connection keeps the order of its requests,
// and of its replies. Both take any time; what never arrives is lost. If the round needs it, the
// client sends a larger ballot. It may ask a node again that has refused the key. After the grant
// it may send ballots to spare nodes. Clients take any ballot that the scope permits, not only
// those of a clock, so a smaller ballot may be used later.
//
// In the scopes with `each_step`, each request that a node executes and each reply that a client
// reads is a step. In the others a client's request has its effect and its answer in one step; a
// request without an effect is no step. That finds all states in which answers matter, because a
// late answer only makes a client wait, which it may do in any case.
//
// Keys: see `expiry` in variant.hpp. With adversarial expiry only tokens are judged: they are
// unique, and follow the real time of requests, whatever keys and clocks do. With honest expiry a
// client knows when a key that it was granted ends; then tokens also follow the order of leases,
// and leases exclude each other. With explicit time, nodes lose all data, by FLUSHALL under open
// connections or by a restart: their registers then begin at the clock of the node, which may be
// behind, plus the quarantine. Clients choose no ballot further than `ahead` beyond the time. Rates
// of clocks are honest there.
//
// States that differ only in the names of nodes or attempts are one state. Not modelled: deletions
// (a key may vanish at any time, or an attempt that has ended leaves none), nodes that are excluded
// (the client only counts fewer), the queue, local transfers beyond the block of two tokens, more
// than one resource for a register (others only use up ballots), and drifts of clocks within a
// lease (drift is subtracted by the library).
class fenced_system {
public:
    using world = model::world;
    using step = model::step;
    using naming = model::naming;
    using scope = model::scope;
    using rules = model::rules;
    using variant = model::variant;

    static std::span<const scope> scopes() { return model::scopes(); }
    static std::span<const variant> variants() { return model::variants(); }
    static std::string names_of(unsigned violated) { return model::names_of(violated); }

    fenced_system(const scope& s, const rules& how)
        : rounds_(s.nodes),
          protocol_(s, how, rounds_),
          packing_(s.nodes, s.attempts, rounds_)
    {}

    world beginning() const { return protocol_.beginning(); }
    void steps(const world& w, std::vector<step>& found) const { protocol_.steps(w, found); }
    unsigned take(world& w, const step& s) const { return protocol_.take(w, s); }
    bool over(const world& w) const { return protocol_.over(w); }
    bool grants(const world& before, const world& after) const
    {
        return before.published != after.published;
    }
    std::size_t width() const { return packing_.width(); }
    words canonical(const world& w, naming& names) { return packing_.canonical(w, names); }
    world unpack(const std::uint32_t* from) const { return packing_.unpack(from); }
    std::string describe(
        const step& s, const world& before, const world& after, const naming& names) const
    {
        return model::describe(s, before, after, names);
    }
    std::size_t bytes() const { return packing_.bytes(); }

private:
    round_book rounds_;
    protocol protocol_;
    packing packing_;
};

} // namespace holdfast::model
