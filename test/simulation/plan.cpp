#include "simulation/plan.hpp"

#include "core/terms.hpp"

#include <algorithm>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// Clocks run apart by at most twice this: 0.9 %. The drift that leases allow for is 1 %.
constexpr std::int64_t worst_ppm = 4500;

std::int64_t some_rate(dice& chance)
{
    constexpr std::array<std::int64_t, 5> rates{-worst_ppm, -worst_ppm / 10, 0, 1, worst_ppm};
    return rates[chance.below(rates.size())];
}

core::lease_terms some_terms(dice& chance)
{
    lock_options o;
    o.ttl = std::chrono::floor<milliseconds>(chance.of_any_size(100ms, 10s));
    if (chance.chance(0.3))
        o.guard = o.ttl / 10;
    if (chance.chance(0.3))
        o.renewal = renewal::manual;
    if (chance.chance(0.1))
        o.max_hold = o.ttl * 2;
    if (chance.chance(0.2))
        o.handoff_limit = chance.below(3);
    check(o);
    return core::terms_of(o);
}

habits some_habits(dice& chance, core::duration ttl)
{
    const auto sometimes = [&] {
        return chance.chance(0.5) ? chance.fraction() * 0.5 : 0;
    };
    habits h;
    h.asks_once = sometimes();
    h.cancels = sometimes();
    h.drops = sometimes();
    h.obstinate = sometimes();
    h.releases_twice = sometimes();
    h.extends = sometimes();
    h.longest_hold = chance.of_any_size(ttl / 20, ttl * 3);
    h.longest_pause = chance.of_any_size(ttl / 100, ttl);
    return h;
}

void choose_faults(plan& p, dice& chance)
{
    const double how_many = chance.chance(0.15) ? 0 : chance.fraction();
    for (std::size_t i = 0; i < fault_kinds; ++i) {
        const auto f = static_cast<fault>(i);
        const bool breaks_assumption = f == fault::clock_set_forward || f == fault::node_forgot_now;
        if (chance.chance(breaks_assumption ? how_many * 0.15 : how_many))
            p.faults.push_back(f);
    }
    const auto on = [&](fault f) {
        return std::find(p.faults.begin(), p.faults.end(), f) != p.faults.end();
    };
    p.given.clocks_run_right = !on(fault::clock_set_forward);
    p.given.nodes_remember = !on(fault::node_forgot_now);
    p.given.nodes_forget = on(fault::node_forgot);
    p.between_faults = chance.of_any_size(p.terms.ttl / 20, p.terms.ttl * 2);

    // Sometimes a majority is never touched, and everything must go on as if nothing were wrong.
    const bool clients_suffer = on(fault::client_frozen) || on(fault::client_suspended);
    const bool minority_only = p.nodes > 2 && !clients_suffer && chance.chance(0.3);
    p.faulty_nodes = minority_only ? (p.nodes - 1) / 2 : p.nodes;
    p.given.majority_is_well = (minority_only || p.faults.empty()) && !clients_suffer;
}

} // namespace

std::string_view name_of(fault f) noexcept
{
    constexpr std::array<std::string_view, fault_kinds> names{"packets were slow",
        "bytes came in pieces", "a way was cut off", "one direction was cut off",
        "a connection was cut", "a node was frozen", "a node crashed",
        "a node forgot what had run out", "a node forgot what was valid",
        "a host vanished without a word", "a node refused commands", "scripts were forgotten",
        "a node's clock was set back", "a node's clock was set forward", "a client was frozen",
        "a client was suspended", "a client crashed"};
    return names[static_cast<std::size_t>(f)];
}

plan make_plan(dice& chance)
{
    plan p;
    constexpr std::array<std::size_t, 8> sizes{1, 1, 2, 3, 3, 4, 5, 5};
    p.nodes = sizes[chance.below(sizes.size())];
    p.processes = 2 + chance.below(3);
    p.users = 1 + chance.below(3);
    p.resources = chance.chance(0.8) ? 1 : 2;
    p.terms = some_terms(chance);
    p.longest_ttl = p.terms.ttl * 2;
    if (chance.chance(0.3))
        p.node_timeout = std::chrono::floor<milliseconds>(chance.of_any_size(2ms, 500ms));
    if (chance.chance(0.3))
        p.options.retry_max = p.options.retry_min = milliseconds(1 + chance.below(50));
    const bool clocks_differ = chance.chance(0.6);
    for (std::size_t i = 0; i < p.processes; ++i)
        p.client_ppm.push_back(clocks_differ ? some_rate(chance) : 0);
    for (std::size_t i = 0; i < p.nodes; ++i)
        p.node_ppm.push_back(clocks_differ ? some_rate(chance) : 0);
    p.lateness = chance.of_any_size(1us, 2ms);
    p.shortest_delay = chance.of_any_size(5us, 500us);
    p.longest_delay = p.shortest_delay * 2;
    p.users_do = some_habits(chance, p.terms.ttl);
    choose_faults(p, chance);
    p.storm = std::min<nanoseconds>(p.terms.ttl * 20, 60s);
    p.leases = 50;
    return p;
}

} // namespace holdfast::simulation
