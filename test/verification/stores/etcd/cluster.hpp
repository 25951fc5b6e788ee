#pragma once

#include "support/etcd_model.hpp"
#include "verification/recipes/world.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace holdfast::etcd_simulation {

using namespace std::chrono_literals;
using core::duration;
using core::time_point;
using recipe_simulation::world;

class link;

// What goes wrong, as probabilities.
struct troubles {
    double break_off = 0;   // of a connection, at a request
    double no_answer = 0;   // of a connection, after a request was executed
    double error = 0;       // in place of an answer: it was executed, will be, or will not
    double late_watch = 0;  // an event comes up to half a second late
    double refused = 0;     // connections
    duration slowest = 5ms; // way of bytes, or execution
    // A connection is open when the member has answered: with TLS, or a login.
    bool slow_openings = false;
};

// The members of a cluster in true time, which have one store: a leader that may stand still or
// change, and the clock that leases are counted by.
class cluster {
public:
    static constexpr std::size_t size = 3;
    static constexpr duration election_timeout = 1s;

    explicit cluster(world& w);

    // By the clock of the leader.
    time_point clock() const noexcept;
    // From when on this member can execute what has arrived. It may be postponed again.
    time_point serves_at(std::size_t member) const noexcept;
    time_point opens_from(std::size_t member) const noexcept
    {
        return trouble.slow_openings ? frozen_until_[member] : core::long_ago;
    }
    bool frozen(std::size_t member) const noexcept { return frozen_until_[member] > world_.now(); }
    std::size_t leader() const noexcept { return leader_; }

    // The member stands still. Another one leads after an election, and gives all leases their
    // whole time again.
    void freeze(std::size_t member, duration length);
    // Another member leads, after a time without a leader.
    void change_leader();
    // Old changes are forgotten: no watch can begin before this.
    void compact();
    // Another program changes a value, but not the lease of its key.
    void touch_a_key();

    void add(const std::shared_ptr<link>& which) { links_.push_back(which); }
    // Something may have changed: watches are to be told.
    void committed();

    // How long a step takes.
    duration delay() { return world_.random.of_any_size(50us, trouble.slowest); }

    test::etcd_model model;
    troubles trouble;

private:
    void elect(time_point at);
    void end_leases();

    world& world_;
    const double rate_;
    std::size_t leader_ = 0;
    std::array<time_point, size> frozen_until_{};
    time_point led_from_{};
    std::vector<std::weak_ptr<link>> links_;
};

} // namespace holdfast::etcd_simulation
