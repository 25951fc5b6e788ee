#include "verification/stores/environment.hpp"

namespace holdfast::store_simulation {

namespace {

constexpr duration faulty = 60s, quiet = 60s, ending = 40s, closing = 5s;
constexpr duration longest_wait = 40s; // without faults, after all leases of the crashed ended

} // namespace

result environment::run()
{
    begin();
    w.run_until(time_point(faulty));
    end_faults();
    for (client* const each : all_)
        each->be_patient();
    w.run_until(time_point(faulty + quiet));
    check_waits();
    for (client* const each : all_)
        each->stop();
    w.run_until(time_point(faulty + quiet + ending));
    check_end();
    return {w.violations, judge.holds()};
}

void environment::begin()
{
    resources_ = 1 + w.random.below(2);
    ttl_ = choose_ttl();
    const std::size_t clients = 2 + w.random.below(3);
    while (all_.size() < clients)
        begin_client();
    if (w.random.chance(0.1))
        return; // a world without faults
    begin_faults();
    repeat(50ms, 20s, [this] { trouble(); });
    begin_events();
}

void environment::begin_client()
{
    client& added =
        add_client({.number = static_cast<int>(all_.size()), .resources = resources_, .ttl = ttl_});
    all_.push_back(&added);
    added.begin();
}

bool environment::faults_happen() const noexcept
{
    return w.now() < time_point(faulty);
}

void environment::repeat(duration shortest, duration longest, const std::function<void()>& what)
{
    w.after(w.random.of_any_size(shortest, longest), [this, shortest, longest, what] {
        if (!faults_happen())
            return;
        what();
        repeat(shortest, longest, what);
    });
}

void environment::trouble()
{
    constexpr std::size_t pauses = 3, crash = 3;
    const std::size_t number = w.random.below(all_.size());
    client& unlucky = *all_[number];
    const std::size_t kind = w.random.below(pauses + 1 + faults_);
    if (kind < pauses)
        return unlucky.runs().pause_for(w.random.of_any_size(ttl_ / 20, 2 * ttl_));
    if (kind > crash)
        return fail(kind - crash - 1, number);
    if (unlucky.runs().crashed() || w.random.chance(0.5))
        return;
    if (retiring() > 0 && w.random.chance(retiring()))
        unlucky.retire();
    else
        unlucky.crash();
    w.after(w.random.of_any_size(1ms, 10s), [this] { begin_client(); });
}

void environment::check_waits()
{
    for (client* const each : all_) {
        if (!each->runs().crashed() && each->longest_wait() > longest_wait)
            w.violation("a process waits for ever");
    }
}

// Nothing may be left when all users have given back what they had.
void environment::check_end()
{
    for (client* const each : all_) {
        if (each->runs().crashed())
            continue;
        if (!each->is_done())
            w.violation("a release has no end");
        else if (!each->store().cleanup().is_done())
            w.violation("a store does not end its clean-up");
    }
    check_when_idle();
    for (client* const each : all_)
        each->close();
    w.run_until(w.now() + closing);
    for (client* const each : all_) {
        if (!each->runs().crashed() && !each->store().cleanup().is_done())
            w.violation("a store does not give its session back");
    }
    check_when_closed();
}

} // namespace holdfast::store_simulation
