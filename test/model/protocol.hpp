#pragma once

#include "model/round_book.hpp"
#include "model/variant.hpp"
#include "model/world.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::model {

// Something that can happen.
enum class step_kind : std::uint8_t {
    begin,   // a client sends GRANT to all nodes
    give_up, // it is not held, and not wanted any more
    release,
    read,  // a client reads that a node has granted
    use,   // it reads the counter of a node and writes with it
    grant, // a node executes a request; refusals and answers to RAISE are read at once
    write_back,
    extend,
    remove,
    stray,  // a request of an attempt that has ended is granted, and the key is gone at once
    expire, // the key of a node
    forget, // all that a node has
};

struct step {
    step_kind kind = step_kind::begin;
    attempt who = 0;
    std::uint8_t node = 0;
    // begin: with a floor; grant: its answer replaces one that is still unread, or is not read yet
    bool flag = false;
};

// What can happen in a world, and what becomes of it.
class protocol {
public:
    protocol(const scope& s, const rules& how, round_book& rounds)
        : scope_(s),
          how_(how),
          rounds_(rounds)
    {}

    // All that can happen. What has no effect is left out.
    void steps(const world& w, std::vector<step>& found) const;

    // Does it; returns what it violates.
    unsigned take(world& w, const step& s) const
    {
        const unsigned violated = perform(w, s);
        return scope_.tokens_only ? violated | reduce(w) : violated;
    }

    // Whether nobody will be granted anything any more.
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

    // What is left out where the tokens alone are judged, see reduction.cpp.
    void fewer_steps(const world& w, std::vector<step>& found) const;
    unsigned settle(world& w, std::size_t client) const;
    unsigned reduce(world& w) const;

    void forget_dead_raises(world& w, std::size_t node) const noexcept;

    scope scope_;
    rules how_;
    round_book& rounds_;
};

} // namespace holdfast::model
