#include "verification/simulation/plan_fenced.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

void add_some(plan& p, dice& chance, std::initializer_list<fault> faults)
{
    for (const fault f : faults) {
        if (chance.chance(0.4))
            p.faults.push_back(f);
    }
}

// Keys vanish before they should expire, clocks are set, and clients act on leases that are over.
void theme_of_wrong_clocks(plan& p, dice& chance)
{
    p.faults.clear();
    add_some(p, chance,
        {fault::clock_set_back, fault::clock_set_forward, fault::locks_vanished,
            fault::clock_set_forward, fault::locks_vanished, fault::client_frozen,
            fault::client_suspended, fault::slow_packets, fault::lost_one_way, fault::cut_stream});
    p.users_do.obstinate = chance.fraction();
}

// Nodes restart soon, with no data or old data, several at the same time.
void theme_of_forgetful_nodes(plan& p, dice& chance)
{
    p.faults = {chance.chance(0.5) ? fault::node_forgot_now : fault::node_flushed};
    add_some(p, chance,
        {fault::node_forgot_now, fault::node_flushed, fault::node_forgot, fault::node_crashed,
            fault::node_frozen, fault::client_frozen, fault::cut_stream, fault::slow_packets});
    p.between_faults = chance.of_any_size(200ms, 3s);
    p.users_do.longest_pause = chance.of_any_size(p.terms.ttl / 20, p.terms.ttl * 2);
}

// Nodes lose their data while all clients stay connected. The first client that notices it opens
// the node again, and the others may never know.
void theme_of_flushes(plan& p, dice& chance)
{
    p.nodes = chance.chance(0.6) ? 1 : 3;
    p.processes = 3 + chance.below(2);
    p.client_ppm.resize(p.processes, 0);
    p.resources = 1;
    p.queue = chance.chance(0.3);
    p.terms.renews = chance.chance(0.3);
    p.users_do.longest_hold = p.terms.ttl * 2;
    p.users_do.longest_pause = p.terms.ttl / 5;
    p.faults = {fault::node_flushed};
    add_some(p, chance, {fault::slow_packets, fault::lost_one_way, fault::client_frozen});
    p.between_faults = chance.of_any_size(p.terms.ttl * 2, p.terms.ttl * 10);
    p.longest_fault = p.terms.ttl / 2;
}

// Nodes accept ballots of different clients, and lose the locks between two ballots of an attempt,
// while other clients ask at once.
void theme_of_split_votes(plan& p, dice& chance)
{
    p.nodes = chance.chance(0.7) ? 3 : 5;
    p.processes = 3 + chance.below(3);
    p.client_ppm.resize(p.processes, 0);
    p.resources = 1;
    p.queue = chance.chance(0.3);
    p.shortest_delay = chance.of_any_size(50us, 500us);
    p.longest_delay = p.shortest_delay * (1 + static_cast<int>(chance.below(2)));
    p.node_timeout.reset();
    p.options.retry_min = 1ms;
    p.options.retry_max = std::chrono::ceil<milliseconds>(p.longest_delay * 10);
    p.users_do.longest_hold = chance.of_any_size(200us, p.terms.ttl / 10);
    p.users_do.longest_pause = chance.of_any_size(10us, p.terms.ttl / 20);
    p.faults = {fault::locks_vanished};
    add_some(p, chance, {fault::slow_packets, fault::node_frozen, fault::lost_one_way});
    p.between_faults = p.shortest_delay * (1 + static_cast<int>(chance.below(10)));
    p.longest_fault = 50ms;
    p.fence.emplace().ahead = 10ms;
    p.node_clocks_differ = chance.chance(0.5) ? 100ms : 1000ms;
}

// One resource is granted as often as nodes and network can, which is more often than the clock has
// ballots, and nodes lose their data.
void theme_of_a_hot_name(plan& p, dice& chance)
{
    p.nodes = chance.chance(0.5) ? 1 : 3;
    p.processes = 1 + chance.below(2);
    p.client_ppm.resize(p.processes, 0);
    p.users = chance.chance(0.5) ? 1 : 4;
    p.resources = 1;
    p.lateness = 1us;
    p.shortest_delay = 5us;
    p.longest_delay = 10us;
    p.node_timeout.reset();
    p.options.retry_min = 1ms;
    p.options.retry_max = 10ms;
    p.users_do = {};
    p.users_do.longest_hold = p.users_do.longest_pause = 2us;
    p.faults = {chance.chance(0.5) ? fault::node_forgot_now : fault::node_flushed};
    p.between_faults = chance.of_any_size(100ms, 1s);
    p.fence.emplace().ahead = 10ms;
    p.node_clocks_differ = 1ms;
    p.leases = 8000;
    p.events = 200'000;
}

} // namespace

void choose_fenced_theme(plan& p, dice& chance)
{
    constexpr std::array themes{theme_of_wrong_clocks, theme_of_wrong_clocks,
        theme_of_forgetful_nodes, theme_of_forgetful_nodes, theme_of_forgetful_nodes,
        theme_of_flushes, theme_of_split_votes, theme_of_split_votes};
    const bool hot = chance.chance(0.05); // rare, because these worlds take long
    (hot ? theme_of_a_hot_name : themes[chance.below(themes.size())])(p, chance);
}

namespace {

// The spread of these rates becomes at most `allowed` in this time.
void limit_drift(std::vector<std::int64_t*> ppm, nanoseconds allowed, nanoseconds length)
{
    const auto less = [](const std::int64_t* a, const std::int64_t* b) {
        return *a < *b;
    };
    const auto [slowest, fastest] = std::ranges::minmax_element(ppm, less);
    const std::int64_t spread = **fastest - **slowest;
    const std::int64_t most = allowed.count() / (length.count() / 1'000'000);
    if (spread <= most)
        return;
    for (std::int64_t* each : ppm)
        *each = *each * most / spread;
}

// Tokens grow although nodes forget, because the clocks of nodes, and what clients know of them,
// differ by less than `ahead`.
void bound_clocks(plan& p)
{
    constexpr nanoseconds oldest_sample = 60s; // of a clock, by a client
    const nanoseconds winding_up = 60s + p.longest_ttl * 30;
    const nanoseconds length = p.storm + p.longest_wait_in_calm() + winding_up;
    p.node_clocks_differ = std::min<milliseconds>(
        p.node_clocks_differ, std::chrono::floor<milliseconds>(p.fence->ahead) / 4);
    std::vector<std::int64_t*> nodes, all;
    for (std::int64_t& each : p.node_ppm)
        nodes.push_back(&each);
    limit_drift(nodes, p.fence->ahead / 4, length);
    all = nodes;
    for (std::int64_t& each : p.client_ppm)
        all.push_back(&each);
    limit_drift(all, p.fence->ahead / 8, oldest_sample);
}

} // namespace

// If no node forgets, tokens grow whatever the clocks show.
void fence(plan& p, dice& chance)
{
    redis::fence_settings& f = p.fence ? *p.fence : p.fence.emplace();
    const bool nodes_forget =
        p.can(fault::node_forgot) || p.can(fault::node_forgot_now) || p.can(fault::node_flushed);
    const bool clocks_are_set = p.can(fault::clock_set_forward) || p.can(fault::clock_set_back);
    constexpr std::array<milliseconds, 4> differences{1ms, 10ms, 100ms, 1000ms};
    constexpr std::array<milliseconds, 3> aheads{10ms, 100ms, 300ms};
    if (f.ahead == 0ms) {
        p.node_clocks_differ = differences[chance.below(differences.size())];
        f.ahead = aheads[chance.below(aheads.size())];
    }
    if (clocks_are_set)
        p.set_forward_in_all = 1s;
    const milliseconds least = std::chrono::ceil<milliseconds>(p.longest_ttl);
    f.quarantine = std::max<milliseconds>(
        least + milliseconds(chance.below(2) * 100), std::chrono::ceil<milliseconds>(2 * f.ahead));
    p.nodes_have_records = nodes_forget ? chance.chance(0.8) : chance.chance(0.3);
    f.first_deployment = !nodes_forget && !p.nodes_have_records && chance.chance(0.8);
    f.trusted_persistence = !nodes_forget && !f.first_deployment && chance.chance(0.3);
    p.users_do.careless = chance.chance(0.7) ? chance.fraction() : 0;
    if (nodes_forget || !f.first_deployment)
        p.storm = std::max<nanoseconds>(p.storm, f.pause() * 10);
    if (nodes_forget) {
        bound_clocks(p);
        p.set_back_at_most = f.quarantine; // otherwise registers may begin again below older tokens
    }

    p.given.fenced = true;
    p.given.nodes_remember = true; // or are in quarantine
    p.given.nodes_forget = nodes_forget;
    if (p.can(fault::locks_vanished))
        p.given.clocks_run_right = false; // a vanished lock has the same effect
    // A register that is ahead of the clocks does not count for a while: a lease may rest on a bare
    // majority that has faulty nodes in it.
    if (p.node_clocks_differ >= f.ahead)
        p.given.majority_is_well = false;
}

} // namespace holdfast::simulation
