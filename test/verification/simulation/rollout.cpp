#include "verification/simulation/rollout.hpp"

#include <utility>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;

} // namespace

rollout::rollout(surroundings& world, std::vector<std::unique_ptr<process>>& processes,
    std::function<void(process&)> on_started)
    : world_(world),
      processes_(processes),
      on_started_(std::move(on_started))
{}

void rollout::begin()
{
    if (world_.settings.rolls_out)
        plan_next();
}

void rollout::plan_next()
{
    world_.time.after(world_.chance.of_any_size(1ms, world_.settings.terms.ttl * 4), [this] {
        if (over_)
            return;
        replace(*processes_[world_.chance.below(processes_.size())]);
        plan_next();
    });
}

core::duration rollout::some_time()
{
    return world_.chance.of_any_size(1ms, world_.settings.longest_ttl * 2);
}

void rollout::replace(process& p)
{
    if (!p.running() || p.frozen() || p.departing())
        return;
    const auto limit = world_.chance.chance(0.1) ? core::duration(0) : some_time();
    p.depart(limit, [this, &p] { finish(p); });
    if (p.running() && world_.chance.chance(0.3))
        p.later(some_time(), [this, &p] { go_on(p); });
}

// While it drains, it is told to end again, or closes.
void rollout::go_on(process& p)
{
    if (world_.chance.chance(0.5))
        p.drain(world_.chance.chance(0.2) ? core::duration(0) : some_time());
    else
        p.close();
}

// It has closed its locker. It ends in a step of its own.
void rollout::finish(process& p)
{
    world_.time.after(0ns, [this, &p, of = p.incarnation()] {
        if (!p.running() || p.incarnation() != of)
            return;
        ++replaced_;
        p.crash(); // there is nothing left to lose
        world_.time.after(world_.chance.between(0ns, 100ms), [this, &p] {
            if (p.running())
                return;
            p.start();
            on_started_(p);
        });
    });
}

} // namespace holdfast::simulation
