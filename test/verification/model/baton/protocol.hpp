#pragma once

#include "verification/model/baton/variant.hpp"
#include "verification/model/baton/world.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::model::baton {

// The kinds of steps.
enum class step_kind : std::uint8_t {
    begin,        // a process sends SET to all nodes
    enter,        // a process goes to the queue
    enqueue,      // it asks for its place again
    place,        // the queue node executes such a request
    read_place,   // the process reads the answer
    lose_place,   // it never will: the connection is lost
    late_place,   // the queue node executes a request of a connection that is lost
    go_on,        // a waiter goes on without its turn
    set,          // a node executes SET, and the process reads the answer
    renew,        // it sends a renewal
    execute,      // a node executes it
    read,         // the process reads the answer
    lose,         // it never will: the connection is lost
    late_renewal, // a node executes a renewal of a connection that is lost
    give,         // a process sends the baton
    execute_give, // the queue node executes the script
    read_give,    // the process reads the answer
    lose_give,    // it never will
    take,         // a process reads the message that gives it a lease
    release,      // a process deletes its keys
    remove,       // a node executes the deletion
    discard,      // a node executes the deletion of a lease that was not wanted
    tick,         // of the clock
    crash,        // a node loses all data, and comes back when all leases of now have ended
};

struct step {
    step_kind kind = step_kind::begin;
    std::uint8_t who = 0;
    std::uint8_t node = 0;
    small value = 0; // enqueue, read_place, take: whether a lease is confirmed before it counts;
                     // execute_give: waiters that do not receive the message
};

// The possible steps of a world, and their effects.
class protocol {
public:
    protocol(const scope& s, const rules& how) : scope_(s), how_(how) {}

    // Finds all possible steps.
    void steps(const world& w, std::vector<step>& found) const;
    // Takes the step; returns its violations.
    unsigned take(world& w, const step& s) const;
    // Whether nothing can happen any more that matters.
    bool over(const world& w) const noexcept;

    // Whether the process believes that it has the lease.
    bool believes(const world& w, std::size_t p) const noexcept;

private:
    void idle_steps(const world& w, std::size_t p, std::vector<step>& found) const;
    void client_steps(const world& w, std::size_t p, std::vector<step>& found) const;
    void link_steps(const world& w, std::size_t p, std::size_t at, std::vector<step>& found) const;
    void place_steps(const world& w, std::size_t p, std::vector<step>& found) const;
    bool may_renew(const client& c) const noexcept;
    bool may_give(const world& w, std::size_t p) const noexcept;

    unsigned perform(world& w, const step& s) const;
    // The steps of a process.
    void ask_for_place(world& w, std::size_t p, bool confirms) const;
    void read_place(world& w, std::size_t p, bool confirms) const;
    void lose_place(world& w, std::size_t p) const;
    void accept(world& w, std::size_t p, const gift& given, bool confirms) const;
    void take_over(world& w, std::size_t p, const gift& given, bool confirms) const;
    void read_renewal(world& w, std::size_t p, std::size_t at) const;
    void lose_renewal(world& w, std::size_t p, std::size_t at) const;
    void give(world& w, std::size_t p) const;
    void read_give(world& w, std::size_t p) const;
    void release(client& c, std::uint8_t nodes) const;
    // The steps of a node.
    void place(world& w, std::size_t p) const;
    void set(world& w, std::size_t p, std::size_t at) const;
    bool renew(world& w, std::size_t p, std::size_t at) const;
    unsigned execute_give(world& w, std::size_t p, unsigned deaf) const;
    unsigned remove(world& w, std::size_t p, std::size_t at) const;
    unsigned discard(world& w, std::size_t p, std::size_t at) const;
    unsigned steals(const world& w, std::size_t p, const value& key) const noexcept;
    void tick(world& w) const;

    small lag_of(const client& c) const noexcept;
    small ttl_of(std::size_t p) const noexcept { return scope_.ttls[p]; }

    void settle(world& w) const;
    unsigned judge(const world& w) const noexcept;

    scope scope_;
    rules how_;
};

} // namespace holdfast::model::baton
