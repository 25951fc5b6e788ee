#include "verification/stores/zookeeper/theme.hpp"

#include <algorithm>
#include <array>

namespace holdfast::zookeeper_simulation {

namespace {

// Anything may happen.
void theme_of_everything(theme& t, world& w)
{
    ensemble_settings& s = t.servers;
    if (w.random.chance(0.2))
        s.servers = 1;
    // The shortest timeout of a session is two ticks.
    s.tick = w.random.chance(0.5) ? duration(2s) : w.random.of_any_size(50ms, 3s);
    if (w.random.chance(0.5))
        s.longest_session = std::max<duration>(20 * s.tick, 10s);
    s.sync_ticks = 2 + static_cast<int>(w.random.below(4));
    s.fast_clocks = w.random.chance(0.2);
    s.container_interval = w.random.of_any_size(1s, 60s);
    if (w.random.chance(0.3))
        s.slowest_disk = w.random.of_any_size(2ms, 300ms);
    t.strikes = w.random.chance(0.3);
    t.isolation = w.random.fraction();

    t.faults.break_off = 0.02 * w.random.fraction();
    t.faults.no_answer = 0.02 * w.random.fraction();
    t.faults.late = w.random.fraction();
    t.faults.refused = 0.2 * w.random.fraction();
    if (w.random.chance(0.4))
        t.faults.slowest = w.random.of_any_size(5ms, 1500ms);
    if (w.random.chance(0.4))
        t.faults.slowest_peers = w.random.of_any_size(2ms, 500ms);
    if (w.random.chance(0.2))
        t.faults.slowest_opening = w.random.of_any_size(20ms, 2s);
    if (w.random.chance(0.2)) {
        t.faults.slow_answer = w.random.fraction();
        t.faults.slowest_answer = w.random.of_any_size(50ms, 2s);
    }
}

// Clocks of servers are as fast, and clocks of clients as slow as is allowed, and sessions end
// almost when they may.
void theme_of_clocks(theme& t, world& w)
{
    t.servers.tick = w.random.of_any_size(10ms, 40ms);
    t.servers.longest_session = 10s;
    t.servers.fast_clocks = true;
    t.shortest_ttl = 7s;
    t.strikes = true;
}

// Some answers are slow, and servers are cut off before the leader knows what they have answered.
void theme_of_slow_answers(theme& t, world& w)
{
    t.servers.tick = w.random.of_any_size(60ms, 150ms);
    t.servers.longest_session = 10s;
    t.shortest_ttl = 3s;
    t.faults.slow_answer = 0.2 + 0.4 * w.random.fraction();
    t.faults.slowest_answer = w.random.of_any_size(400ms, 900ms);
    t.strikes = true;
    t.isolation = 1;
}

// Sessions are as short as ticks allow: servers tell the leader of them no more than four times
// within a timeout.
void theme_of_long_ticks(theme& t, world& w)
{
    t.servers.tick = w.random.of_any_size(1s, 3s);
    t.longest_ttl = 5s;
    t.strikes = true;
    t.isolation = 1;
}

void theme_of_two_leaders(theme& t, world& w)
{
    t.servers.tick = w.random.of_any_size(200ms, 800ms);
    t.servers.sync_ticks = static_cast<int>(w.random.of_any_size(3s, 8s) / t.servers.tick);
    t.servers.longest_session = 10s;
    t.shortest_ttl = 4s;
    t.splits = true;
}

} // namespace

theme choose_theme(world& w, bool aged)
{
    constexpr std::array rare{theme_of_clocks, theme_of_slow_answers, theme_of_slow_answers,
        theme_of_long_ticks, theme_of_long_ticks, theme_of_two_leaders};
    theme t;
    t.servers.replaces_sessions = w.random.chance(0.3);
    const auto chosen =
        w.random.chance(0.25) ? theme_of_everything : rare[w.random.below(rare.size())];
    chosen(t, w);
    if (aged) // a queue whose counter has ended is used again when its folder was removed
        t.servers.container_interval = std::min<duration>(t.servers.container_interval, 5s);
    return t;
}

} // namespace holdfast::zookeeper_simulation
