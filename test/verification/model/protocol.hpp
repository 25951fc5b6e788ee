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
    begin,   // a client sends SET and a ballot to all nodes
    execute, // a node executes the next request
    read,    // a client reads the next reply of a node
    propose, // a client sends a larger ballot
    ask,     // a client sends SET again
    lose,    // a client learns that a node has lost the key
    grant,   // a lease is granted; part of `read` if that is a step
    write,   // to the guarded store
    renew,   // a node executes a renewal
    repair,  // a node executes a SET for a key that was lost
    cut,     // a connection breaks before the node has executed the SET
    arrive,  // that SET arrives
    expire,  // the key of a node expires
    tick,    // of the clock
    flush,   // a node loses all data
    open,    // makes the registers of a node that has none
    restart, // a node loses all data, and its registers are made
};

struct step {
    step_kind kind = step_kind::begin;
    attempt who = 0;
    std::uint8_t node = 0;
    small value = 0; // a ballot; open, restart: the clock of the node
};

// The possible steps of a world, and their effects.
class protocol {
public:
    protocol(const scope& s, const rules& how, round_book& rounds)
        : scope_(s),
          how_(how),
          rounds_(rounds)
    {}

    world beginning() const noexcept;

    // Finds all possible steps except those without an effect.
    void steps(const world& w, std::vector<step>& found) const;
    // Takes the step; returns its violations.
    unsigned take(world& w, const step& s) const;
    // Whether no attempt can be granted any more, and no write is left.
    bool over(const world& w) const noexcept;

private:
    bool timed() const noexcept { return scope_.keys == expiry::timed; }
    // Keys have no effect if each request for a key may find it free.
    bool without_keys() const noexcept
    {
        return !scope_.each_step && scope_.keys == expiry::adversarial;
    }
    // Whether the client may wait before it takes the lease. Otherwise replies are delayed, or to
    // wait makes no difference.
    bool grants_later() const noexcept
    {
        return !scope_.each_step && scope_.keys != expiry::adversarial;
    }
    small largest(const world& w) const noexcept;

    void client_steps(const world& w, attempt a, std::vector<step>& found) const;
    void link_steps(const world& w, attempt a, std::size_t node, std::vector<step>& found) const;
    void node_steps(const world& w, std::size_t node, std::vector<step>& found) const;
    bool has_effect(const world& w, attempt a, std::size_t node) const noexcept;

    unsigned perform(world& w, const step& s) const;
    void begin(world& w, attempt a, small ballot) const;
    void set_again(world& w, attempt a, std::size_t at) const;
    void tell(
        world& w, attempt a, round_book::input what, std::size_t node, unsigned value = 0) const;
    unsigned execute(world& w, attempt a, std::size_t node) const;
    unsigned hear(world& w, attempt a, std::size_t node, unsigned reply) const;
    void tick(world& w) const;

    bool is_enough(const world& w, attempt a) const noexcept;
    unsigned grant(world& w, attempt a) const;
    unsigned write(world& w, attempt a) const;
    bool proves(const client& c, std::size_t node) const noexcept;
    std::size_t alive(const world& w, attempt a, bool key_is_enough) const noexcept;
    bool is_valid(const world& w, attempt a) const noexcept;
    bool has_failed(const client& c) const noexcept;
    bool is_hopeless(const world& w, attempt a) const noexcept;

    void settle(world& w) const;
    void end(world& w, attempt a) const;

    scope scope_;
    rules how_;
    round_book& rounds_;
};

} // namespace holdfast::model
