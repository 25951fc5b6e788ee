#pragma once

#include "verification/model/round_book.hpp"
#include "verification/model/variant.hpp"
#include "verification/model/world.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::model {

// The kinds of steps.
enum class step_kind : std::uint8_t {
    begin,   // a client sends GRANT to all nodes
    give_up, // a client ends an attempt before success
    release,
    read,  // a client reads the answer of a node that has granted
    use,   // a client reads the counter of a node and writes with it
    grant, // a node executes a request; refusals and answers to WRITE-BACK are read at once
    write_back,
    extend,
    remove,
    stray,  // a request of an ended attempt is granted, and the key is gone at once
    expire, // the key of a node expires
    forget, // a node loses its data
};

struct step {
    step_kind kind = step_kind::begin;
    attempt who = 0;
    std::uint8_t node = 0;
    // begin: with a floor; grant: the answer replaces an unread one, or is not read yet
    bool flag = false;
};

// The possible steps of a world, and their effects.
class protocol {
public:
    protocol(const scope& s, const rules& how, round_book& rounds)
        : scope_(s),
          how_(how),
          rounds_(rounds)
    {}

    // Finds all possible steps except those without an effect.
    void steps(const world& w, std::vector<step>& found) const;

    // Takes the step; returns its violations.
    unsigned take(world& w, const step& s) const
    {
        const unsigned violated = perform(w, s);
        return scope_.tokens_only ? violated | reduce(w) : violated;
    }

    // Whether no attempt can be granted any more.
    bool over(const world& w) const noexcept;

    bool clients_are_alike() const noexcept
    {
        return scope_.attempts[0] == scope_.attempts[1] && !how_.grants_resent;
    }

    const scope& size() const noexcept { return scope_; }
    round_book& rounds() const noexcept { return rounds_; }

private:
    unsigned perform(world& w, const step& s) const;
    void client_steps(const world& w, std::size_t client, std::vector<step>& found) const;
    void node_steps(const world& w, std::size_t node, std::vector<step>& found) const;

    void begin(world& w, attempt a, bool with_floor) const;
    void end(world& w, attempt a) const;
    unsigned feed(
        world& w, attempt a, round_book::input what, std::size_t node, number start) const;
    unsigned execute_grant(world& w, attempt a, std::size_t node, bool replace) const;
    unsigned execute_raise(world& w, attempt a, std::size_t node) const;
    unsigned publish(world& w, attempt a) const;
    unsigned judge_leases(world& w, std::size_t granted) const;
    unsigned judge_use(const world& w, attempt a, std::size_t node) const;

    bool valid(const world& w, std::size_t client) const noexcept;

    // The reduction for --tokens-only, see reduction.cpp.
    void fewer_steps(const world& w, std::vector<step>& found) const;
    unsigned settle(world& w, std::size_t client) const;
    unsigned reduce(world& w) const;

    void forget_dead_raises(world& w, std::size_t node) const noexcept;

    scope scope_;
    rules how_;
    round_book& rounds_;
};

} // namespace holdfast::model
