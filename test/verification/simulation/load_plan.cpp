#include "verification/simulation/load_plan.hpp"

#include "core/params.hpp"

#include <algorithm>
#include <array>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::size_t read_size = 16 * 1024;

// An attempt that succeeds, and its release, on each node: a SET and a script.
constexpr int commands_on_node = 1 + node_costs::of_script;
// In its process: two calls and their completions; per node two commands, three lines of replies.
constexpr int operations = 4, commands = 2, lines = 3;

// The size of one read, such that it is never much more work than in a real process.
std::size_t part_of_a_read(nanoseconds command)
{
    const auto scale = static_cast<std::size_t>(std::max<std::int64_t>(command / 5us, 1));
    return std::max<std::size_t>(read_size / scale, 256);
}

void choose_terms(plan& p, dice& chance)
{
    lock_options o;
    o.ttl = chance.chance(0.7) ? 10s : 5s;
    if (chance.chance(0.3))
        o.guard = o.ttl / 10;
    check(o);
    p.terms = core::terms_of(o);
    p.longest_ttl = p.terms.ttl * 2;
    p.node_timeout.reset();
    p.silence_timeout = 10s;
}

void choose_users(plan& p, dice& chance)
{
    p.users = chance.below(3);
    p.resources = 1;
    p.users_do = {.cancels = chance.chance(0.3) ? chance.fraction() * 0.5 : 0};
    p.users_do.shortest_hold = 100us;
    p.users_do.longest_hold = chance.of_any_size(1ms, 100ms);
    p.users_do.longest_pause = chance.of_any_size(10ms, 1s);
}

// Chooses the work that all attempts take on a node and in a flooded process.
void choose_work(plan& p, dice& chance, burst_size size)
{
    burst_plan& b = *p.burst;
    const auto all = static_cast<std::int64_t>(b.attempts * b.flooded);
    const nanoseconds patience = std::clamp<nanoseconds>(p.terms.ttl / 20, 5ms, 500ms);
    if (size == burst_size::full) {
        b.work = chance.of_any_size(1s, 4s);
    } else {
        // The work of the smallest number of attempts that a process keeps under way stays a
        // fraction of the timeout.
        const nanoseconds longest = patience * static_cast<std::int64_t>(b.attempts) / 100;
        b.work =
            chance.of_any_size(patience / 2, std::clamp<nanoseconds>(longest, patience / 2, 8s));
    }
    const bool on_node = chance.chance(0.5);
    const double other = chance.chance(0.3) ? 1 : chance.fraction();
    const auto share = [&](bool busiest, std::int64_t n) {
        return nanoseconds(static_cast<std::int64_t>(
            static_cast<double>(b.work.count()) * (busiest ? 1 : other) / static_cast<double>(n)));
    };
    const nanoseconds of_node = share(on_node, all);
    p.node_work.command = std::max<nanoseconds>(of_node / commands_on_node, 1ns);
    p.node_work.reads_at_once = part_of_a_read(p.node_work.command);
    const nanoseconds of_process = share(!on_node, static_cast<std::int64_t>(b.attempts));
    const auto nodes = static_cast<int>(p.nodes);
    const nanoseconds unit = of_process / (3 * operations + 1 + nodes * (commands + lines));
    p.process_work = {.operation = unit * 3, .attempt = unit, .command = unit, .line = unit};
    p.process_work.reads_at_once = part_of_a_read(unit);
}

} // namespace

void add_costs(plan& p, dice& chance)
{
    if (chance.chance(0.7))
        return;
    p.node_work.command = chance.between(2us, 20us);
    p.node_work.kilobyte = chance.between(0us, 2us);
    p.node_work.reads_at_once = read_size;
    p.process_work = {.operation = chance.between(1us, 10us),
        .attempt = chance.between(500ns, 5us),
        .command = chance.between(500ns, 5us),
        .line = chance.between(500ns, 5us),
        .kilobyte = chance.between(0us, 2us),
        .reads_at_once = read_size};
    if (chance.chance(0.3))
        p.socket_buffer = std::size_t(1024) << chance.below(12);
}

plan make_burst_plan(dice& chance, burst_size size)
{
    plan p;
    constexpr std::array<std::size_t, 5> sizes{1, 2, 3, 3, 5};
    p.nodes = sizes[chance.below(sizes.size())];
    p.processes = 1 + chance.below(4);
    p.client_ppm.resize(p.processes, 0);
    p.node_ppm.resize(p.nodes, 0);
    choose_terms(p, chance);
    choose_users(p, chance);
    p.lateness = chance.of_any_size(1us, 200us);
    p.shortest_delay = chance.of_any_size(5us, 500us);
    p.longest_delay = p.shortest_delay * 2;
    p.most_requests = chance.chance(0.5) ? 1000 : 65'536;
    p.most_bytes = 16 * 1024 * 1024;
    if (chance.chance(0.3))
        p.socket_buffer = std::size_t(16 * 1024) << chance.below(6);
    p.faulty_nodes = 0;
    p.storm = 0ns;

    burst_plan& b = p.burst.emplace();
    b.flooded = chance.chance(0.5) ? 1 : 1 + chance.below(p.processes);
    const auto all = size == burst_size::full
                         ? std::size_t(100'000)
                         : static_cast<std::size_t>(chance.of_any_size(300ns, 3000ns).count());
    b.attempts = all / b.flooded;
    choose_work(p, chance, size);
    b.kept = chance.below(6);
    b.hold = chance.chance(0.5) ? 0ns : chance.of_any_size(10us, 10ms);
    if (chance.chance(0.3)) // the load is this many times the capacity
        b.spread = b.work / static_cast<std::int64_t>(1 + chance.below(10));
    if (chance.chance(0.3)) {
        b.frozen_node = chance.below(p.nodes);
        b.frozen_from = chance.between(0ns, b.work);
        b.frozen_for = 2s;
    }
    p.given.majority_is_well = !b.frozen_node || p.nodes > 2;
    b.wait = chance.chance(0.7) ? b.bound() * 2 : chance.of_any_size(b.work / 2, b.work * 3);
    return p;
}

} // namespace holdfast::simulation
