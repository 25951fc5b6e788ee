#include "verification/simulation/plan.hpp"

#include "core/params.hpp"
#include "verification/simulation/plan_fenced.hpp"

#include <algorithm>
#include <initializer_list>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// The rates of two clocks differ by at most twice this: 0.9 %. Leases allow for 1 % of drift.
constexpr std::int64_t worst_ppm = 4500;

// The first faults; any world may have any of them.
constexpr std::size_t plain_faults = static_cast<std::size_t>(fault::client_crashed) + 1;

// Short, because a quarantine must not be shorter than a ttl, and nodes have to leave quarantine
// while the world still runs.
constexpr nanoseconds longest_fenced_ttl = 400ms;

std::int64_t some_rate(dice& chance)
{
    constexpr std::array<std::int64_t, 5> rates{-worst_ppm, -worst_ppm / 10, 0, 1, worst_ppm};
    return rates[chance.below(rates.size())];
}

core::lease_params some_terms(dice& chance, nanoseconds longest_ttl)
{
    lock_options o;
    o.ttl = std::chrono::floor<milliseconds>(chance.of_any_size(100ms, longest_ttl));
    if (chance.chance(0.3))
        o.guard = o.ttl / 10;
    if (chance.chance(0.3))
        o.renewal = renewal::manual;
    if (chance.chance(0.1))
        o.max_hold = o.ttl * 2;
    if (chance.chance(0.2))
        o.handoff_limit = chance.below(3);
    if (chance.chance(0.3))
        o.handoff_time = o.ttl * 100;
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
    h.shortest_hold = 100us;
    h.longest_hold = chance.of_any_size(ttl / 20, ttl * 3);
    h.longest_pause = chance.of_any_size(ttl / 100, ttl);
    return h;
}

// Sets the assumptions that still hold with these faults.
void consider(plan& p)
{
    p.given.clocks_run_right = !p.can(fault::clock_set_forward);
    p.given.nodes_remember = !p.can(fault::node_forgot_now);
    p.given.nodes_forget = p.can(fault::node_forgot);
}

// ---- Themes: the kinds of worlds

// Any fault, at any time.
void theme_of_chance(plan& p, dice& chance)
{
    const double how_many = chance.chance(0.15) ? 0 : chance.fraction();
    for (std::size_t i = 0; i < plain_faults; ++i) {
        const auto f = static_cast<fault>(i);
        const bool breaks_assumption = f == fault::clock_set_forward || f == fault::node_forgot_now;
        if (chance.chance(breaks_assumption ? how_many * 0.15 : how_many))
            p.faults.push_back(f);
    }
    // Sometimes a majority has no faults. Then everything must work as if there were none at all.
    const bool clients_suffer = p.can(fault::client_frozen) || p.can(fault::client_suspended) ||
                                p.can(fault::client_cut_off);
    const bool minority_only = p.nodes > 2 && !clients_suffer && chance.chance(0.3);
    if (minority_only)
        p.faulty_nodes = (p.nodes - 1) / 2;
    // If several processes contend, a lease may rest on a bare majority that has faulty nodes in
    // it.
    if (minority_only && chance.chance(0.5))
        p.processes = 1;
    p.given.majority_is_well =
        (p.faults.empty() || (minority_only && p.processes == 1)) && !clients_suffer;
}

// The only fault is that connections break. Keys that were set must be deleted soon after
// reconnection.
void theme_of_cuts(plan& p, dice& chance)
{
    p.faults = {fault::cut_stream};
    if (chance.chance(0.5))
        p.faults.push_back(fault::trickle);
    p.given.nothing_is_late = true;
}

// Leases expire under work that does not stop, other users wait for the expiry, and the clocks
// differ by as much as is allowed.
void theme_of_the_last_moment(plan& p, dice& chance)
{
    p.queue = chance.chance(0.3); // a queued attempt does not try at the moment of the expiry
    p.terms.renews = false;
    p.users_do = {.drops = chance.fraction(), .obstinate = 1};
    p.users_do.shortest_hold = p.terms.ttl;
    p.users_do.longest_hold = p.terms.ttl * 3;
    p.users_do.longest_pause = p.terms.ttl;
    if (chance.chance(0.7)) {
        p.client_ppm.assign(p.processes, -worst_ppm);
        p.node_ppm.assign(p.nodes, worst_ppm);
    }
    if (chance.chance(0.7)) { // answers are slow most of the time, but in time
        p.faults = {fault::slow_packets};
        p.shortest_fault = p.terms.ttl / 40;
        p.longest_fault = p.terms.ttl / 20;
        p.between_faults = p.longest_fault / static_cast<std::int64_t>(p.nodes);
    }
}

// A lease is renewed for a long time, while one node after another is unreachable for about a ttl.
void theme_of_rolling_outages(plan& p, dice& chance)
{
    p.nodes = chance.chance(0.8) ? 3 : 5;
    p.terms.renews = true;
    p.terms.max_hold = forever;
    p.users_do = {.asks_once = chance.fraction(), .obstinate = chance.fraction()};
    p.users_do.shortest_hold = p.terms.ttl * 2;
    p.users_do.longest_hold = p.terms.ttl * 20;
    p.users_do.longest_pause = p.terms.ttl / 10;
    p.faults = {fault::lost_both_ways};
    if (chance.chance(0.5))
        p.faults.push_back(fault::lost_one_way);
    if (chance.chance(0.3))
        p.faults.push_back(fault::slow_packets);
    p.between_faults = chance.between(p.terms.ttl / 8, p.terms.ttl);
    p.shortest_fault = p.terms.ttl / 2;
    p.longest_fault = p.terms.ttl * 2;
}

// A lease is renewed for a long time, while all nodes restart one after the other. Each is away for
// some time, and has the time to join the lease again. With several processes, some leases have
// only a bare majority.
void theme_of_rolling_restarts(plan& p, dice& chance)
{
    p.nodes = chance.chance(0.8) ? 3 : 5;
    if (chance.chance(0.7))
        p.processes = 1;
    p.client_ppm.resize(p.processes, 0);
    p.terms.renews = true;
    p.terms.max_hold = forever;
    p.users_do = {.asks_once = chance.fraction(), .obstinate = chance.fraction()};
    p.users_do.shortest_hold = p.terms.ttl * 5;
    p.users_do.longest_hold = p.terms.ttl * 50;
    p.users_do.longest_pause = p.terms.ttl / 10;
    p.faults = {chance.chance(0.5) ? fault::node_crashed : fault::node_forgot};
    p.in_turn = true;
    p.shortest_fault = p.terms.ttl / 10;
    p.longest_fault = p.terms.ttl * 2;
    p.given.majority_is_well = p.processes == 1;
}

// The times of that: a node is connected again after at most about 3 s. It may have forgotten the
// key shortly before the next renewal, and then counts again after a ttl.
void time_restarts(plan& p)
{
    const nanoseconds away =
        std::max<nanoseconds>(p.longest_fault, p.longest_ttl * 102 / 100 + 10ms);
    p.between_faults =
        away + 3s + p.longest_ttl * 2 + (p.fence ? p.fence->pause() * 2 : nanoseconds(0));
    p.storm = p.between_faults * (static_cast<std::int64_t>(p.nodes) + 1);
}

// Whole clients lose the connection to all nodes, or stand still, and come back.
void theme_of_lost_touch(plan& p, dice& chance)
{
    p.terms.renews = true;
    p.users_do.longest_hold = p.terms.ttl * 5;
    p.users_do.obstinate = chance.fraction();
    p.faults = {fault::client_cut_off, fault::slow_packets};
    for (const fault f : {fault::client_frozen, fault::client_suspended, fault::node_frozen}) {
        if (chance.chance(0.4))
            p.faults.push_back(f);
    }
}

// Many users want one resource all the time, and hold it for a short time.
void theme_of_crowds(plan& p, dice& chance)
{
    p.processes = 2 + chance.below(4);
    p.client_ppm.resize(p.processes, 0);
    p.users = 1 + chance.below(6);
    p.resources = 1;
    p.users_do.longest_hold = chance.of_any_size(200us, p.terms.ttl / 20);
    p.users_do.longest_pause = chance.of_any_size(10us, p.terms.ttl / 20);
    p.faults.clear();
    for (const fault f : {fault::cut_stream, fault::client_frozen, fault::client_crashed,
             fault::client_cut_off, fault::node_frozen, fault::node_crashed, fault::slow_packets,
             fault::lost_one_way, fault::scripts_forgotten, fault::node_forgot}) {
        if (chance.chance(0.3))
            p.faults.push_back(f);
    }
}

// ---- The choice

void choose_theme(plan& p, dice& chance, bool contended)
{
    constexpr std::array themes{theme_of_chance, theme_of_chance, theme_of_chance, theme_of_chance,
        theme_of_cuts, theme_of_the_last_moment, theme_of_the_last_moment, theme_of_rolling_outages,
        theme_of_rolling_restarts, theme_of_lost_touch, theme_of_lost_touch, theme_of_crowds,
        theme_of_crowds};
    p.faulty_nodes = 0;
    const auto theme = themes[chance.below(themes.size())];
    (contended ? theme_of_crowds : theme)(p, chance);
    if (chance.chance(0.1))
        p.queue = false;
    if (chance.chance(0.3)) {
        p.lost_pushes = chance.fraction();
        p.repeated_pushes = chance.fraction();
    }
    if (p.faulty_nodes == 0)
        p.faulty_nodes = p.nodes;
    consider(p);
}

void choose_theme_with_tokens(plan& p, dice& chance, bool contended)
{
    if (contended)
        theme_of_crowds(p, chance);
    choose_fenced_theme(p, chance);
    p.faulty_nodes = p.nodes > 2 && chance.chance(0.3) ? (p.nodes - 1) / 2 : p.nodes;
    if (chance.chance(0.3)) {
        p.lost_pushes = chance.fraction();
        p.repeated_pushes = chance.fraction();
    }
    consider(p);
}

// Leases linger. In some worlds so long that no other process gets the resource in time, unless
// the locker notices that others wait.
void let_linger(plan& p, dice& chance)
{
    p.lingers = true;
    p.terms.handoff_limit = std::max<std::size_t>(p.terms.handoff_limit, 1);
    p.users_do.differs = chance.chance(0.3) ? chance.fraction() * 0.3 : 0;
    if (chance.chance(0.5)) { // the lease is taken again and again
        p.users = 1;
        p.users_do.longest_pause = chance.of_any_size(10us, p.terms.ttl / 10);
    }
    p.for_long = p.queue && !p.fence && !p.given.nothing_is_late && chance.chance(0.2);
    const auto most = p.given.nothing_is_late ? nanoseconds(1s) : p.terms.ttl * 4;
    const nanoseconds most_of_worlds = chance.of_any_size(1ms, most);
    const nanoseconds length = p.for_long ? p.longest_wait_in_calm() * 2 : most_of_worlds;
    p.terms.linger_ms = static_cast<std::uint32_t>(std::chrono::ceil<milliseconds>(length).count());
}

// A resource stays locked for `min_hold`, although its lease has been released.
void let_rest(plan& p, dice& chance)
{
    p.rests = true;
    p.users_do.differs = chance.chance(0.3) ? chance.fraction() * 0.5 : 0;
    p.users_do.rests = chance.chance(0.3) ? 0.05 : 1; // where few do, others give them leases
    // Where the referee expects clean-up soon after cuts, a resource must not rest for longer.
    const auto most =
        p.given.nothing_is_late ? std::min<nanoseconds>(p.terms.ttl, 1s) : nanoseconds(p.terms.ttl);
    p.terms.handoff_time = core::terms_of({}).handoff_time; // turns of a process last longer
    const nanoseconds length = chance.chance(0.3) ? most : chance.of_any_size(1ms, most);
    p.terms.min_hold_ms =
        static_cast<std::uint32_t>(std::chrono::floor<milliseconds>(length).count());
}

} // namespace

std::string_view name_of(fault f) noexcept
{
    constexpr std::array<std::string_view, fault_kinds> names{"packets were slow",
        "bytes came in pieces", "a way was cut off", "one direction was cut off",
        "a connection was cut", "a node was frozen", "a node crashed",
        "a node forgot what had run out", "a node forgot what was valid",
        "a host vanished without a word", "a node refused commands", "scripts were forgotten",
        "a node's clock was set back", "a node's clock was set forward",
        "a client lost touch with all nodes", "a client was frozen", "a client was suspended",
        "a client crashed", "a node was flushed", "a node lost its locks, and nothing else"};
    return names[static_cast<std::size_t>(f)];
}

plan make_plan(dice& chance, const wishes& w)
{
    plan p;
    constexpr std::array<std::size_t, 8> sizes{1, 1, 2, 3, 3, 4, 5, 5};
    p.nodes = sizes[chance.below(sizes.size())];
    p.processes = 2 + chance.below(3);
    p.users = 1 + chance.below(3);
    p.resources = chance.chance(0.8) ? 1 : 2;
    p.terms = some_terms(chance, w.fenced ? longest_fenced_ttl : 10s);
    p.longest_ttl = p.terms.ttl * 2;
    if (chance.chance(0.3))
        p.node_timeout = std::chrono::floor<milliseconds>(chance.of_any_size(2ms, 500ms));
    if (chance.chance(0.3))
        p.options.retry_max = p.options.retry_min = milliseconds(1 + chance.below(50));
    p.silence_timeout = chance.chance(0.5) ? core::duration(10s) : chance.of_any_size(100ms, 10s);
    p.lateness = chance.of_any_size(1us, 2ms);
    p.shortest_delay = chance.of_any_size(5us, 500us);
    p.longest_delay = p.shortest_delay * 2;
    p.users_do = some_habits(chance, p.terms.ttl);
    p.between_faults = chance.of_any_size(p.terms.ttl / 20, p.terms.ttl * 2);
    p.shortest_fault = 1ms;
    p.longest_fault = p.terms.ttl * 3;
    const bool clocks_differ = chance.chance(0.6);
    for (std::size_t i = 0; i < p.processes; ++i)
        p.client_ppm.push_back(clocks_differ ? some_rate(chance) : 0);
    p.node_ppm.resize(5);
    for (std::int64_t& rate : p.node_ppm)
        rate = clocks_differ ? some_rate(chance) : 0;
    w.fenced&& chance.chance(0.6) ? choose_theme_with_tokens(p, chance, w.contended)
                                  : choose_theme(p, chance, w.contended);
    p.node_ppm.resize(p.nodes);
    // A minority of nodes answers late all the time.
    if (p.nodes > 2 && p.faulty_nodes == p.nodes && !p.given.nothing_is_late &&
        chance.chance(0.3)) {
        const nanoseconds patience = p.node_timeout
                                         ? *p.node_timeout
                                         : std::clamp<nanoseconds>(p.terms.ttl / 20, 5ms, 500ms);
        p.slow_nodes = 1 + chance.below((p.nodes - 1) / 2);
        p.given.nodes_are_fast = false;
        p.slow_delay = std::min<nanoseconds>(
            chance.of_any_size(patience / 2, patience * 3), p.silence_timeout / 6);
    }
    p.storm = std::min<nanoseconds>(p.terms.ttl * 20, 60s);
    if (w.fenced)
        fence(p, chance);
    if (p.in_turn)
        time_restarts(p);
    if (w.lingering)
        let_linger(p, chance);
    if (w.resting)
        let_rest(p, chance);
    if (p.leases == 0) {
        p.leases = 50;
        p.events = 4000;
    }
    return p;
}

} // namespace holdfast::simulation
