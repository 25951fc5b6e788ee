#include "verification/simulation/troublemaker.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;
using trouble = test::redis_model::trouble;

} // namespace

troublemaker::troublemaker(surroundings& world, std::vector<std::unique_ptr<server>>& servers,
    std::vector<std::unique_ptr<process>>& processes, std::function<void(process&)> on_started)
    : world_(world),
      servers_(servers),
      processes_(processes),
      on_started_(std::move(on_started))
{}

void troublemaker::begin()
{
    if (!world_.settings.faults.empty())
        plan_next();
}

void troublemaker::plan_next()
{
    const nanoseconds usual = world_.settings.between_faults;
    const nanoseconds pause =
        world_.settings.in_turn ? usual : world_.chance.between(0ns, usual * 2);
    world_.time.after(pause, [this] {
        if (over_)
            return;
        strike();
        plan_next();
    });
}

nanoseconds troublemaker::some_time()
{
    return world_.chance.of_any_size(world_.settings.shortest_fault, world_.settings.longest_fault);
}

void troublemaker::strike()
{
    const plan& p = world_.settings;
    const fault f = p.faults[world_.chance.below(p.faults.size())];
    switch (f) {
    case fault::slow_packets:
    case fault::trickle:
    case fault::lost_both_ways:
    case fault::lost_one_way:
    case fault::cut_stream:
        return strike_way(f);
    case fault::client_cut_off:
    case fault::client_frozen:
    case fault::client_suspended:
    case fault::client_crashed:
        return strike_client(f);
    default:
        return strike_node(f);
    }
}

void troublemaker::strike_way(fault f)
{
    if (world_.settings.faulty_nodes == 0)
        return;
    const std::size_t node = world_.chance.below(world_.settings.faulty_nodes);
    const std::size_t client = world_.chance.below(processes_.size());
    route& way = world_.net.between(client, node);
    ++counts_[static_cast<std::size_t>(f)];
    if (f == fault::cut_stream) {
        const auto open = world_.net.open_streams();
        for (const stream_id s : open) {
            if (world_.net.server_of(s) == node && world_.net.client_of(s) == client)
                world_.net.cut(s);
        }
        return;
    }
    const auto mend = [this, f, client, node] {
        route& r = world_.net.between(client, node);
        switch (f) {
        case fault::slow_packets:
            r.slow = 0;
            break;
        case fault::trickle:
            r.trickles = false;
            break;
        default:
            r.lost_out = r.lost_back = false;
            world_.net.retry();
        }
    };
    switch (f) {
    case fault::slow_packets:
        way.slow = world_.chance.fraction();
        way.slowest = way.longest + some_time();
        break;
    case fault::trickle:
        way.trickles = true;
        break;
    case fault::lost_one_way:
        (world_.chance.chance(0.5) ? way.lost_out : way.lost_back) = true;
        break;
    default:
        way.lost_out = way.lost_back = true;
    }
    world_.note("network", "process " + std::to_string(client) + " and node " +
                               std::to_string(node) + ": " + std::string(name_of(f)));
    world_.time.after(some_time(), mend);
}

void troublemaker::strike_node(fault f)
{
    if (world_.settings.faulty_nodes == 0)
        return;
    const std::size_t chosen = world_.settings.in_turn
                                   ? struck_++ % world_.settings.faulty_nodes
                                   : world_.chance.below(world_.settings.faulty_nodes);
    server& node = *servers_[chosen];
    if (!node.up() || node.frozen())
        return;
    ++counts_[static_cast<std::size_t>(f)];
    world_.note("node " + std::to_string(node.number()), std::string(name_of(f)));
    switch (f) {
    case fault::node_frozen:
        node.freeze();
        return world_.time.after(some_time(), [&node] { node.thaw(); });
    case fault::node_in_trouble: {
        constexpr std::array troubles{trouble::loading, trouble::busy, trouble::out_of_memory,
            trouble::misconfigured, trouble::no_replicas, trouble::read_only};
        node.set_trouble(troubles[world_.chance.below(troubles.size())]);
        return world_.time.after(some_time(), [&node] { node.set_trouble(trouble::none); });
    }
    case fault::scripts_forgotten:
        return node.forget_scripts();
    case fault::node_flushed:
        return node.flush();
    case fault::locks_vanished:
        return node.lose_locks();
    case fault::clock_set_back:
        return node.set_clock_back(std::min(some_time(), world_.settings.set_back_at_most));
    case fault::clock_set_forward:
        return node.set_clock_forward(some_time());
    default:
        return down_and_up(node, f);
    }
}

void troublemaker::down_and_up(server& node, fault f)
{
    if (world_.chance.chance(0.5))
        node.take_snapshot();
    node.crash(f == fault::host_crashed);
    nanoseconds down = some_time();
    auto memory = server::memory::everything;
    if (f == fault::node_forgot || f == fault::node_forgot_now)
        memory = world_.chance.chance(0.5) ? server::memory::nothing : server::memory::a_snapshot;
    if (f == fault::node_forgot) // "delayed restart": by then every lease has expired
        down = world_.settings.longest_ttl * 102 / 100 + 10ms;
    world_.time.after(down, [&node, memory] {
        if (!node.up())
            node.restart(memory);
    });
}

void troublemaker::restart(process& p)
{
    if (p.running())
        return;
    p.start();
    on_started_(p);
}

void troublemaker::cut_off(const process& p, bool out, bool back)
{
    for (std::size_t n = 0; n < servers_.size(); ++n) {
        route& r = world_.net.between(p.number(), n);
        r.lost_out = out;
        r.lost_back = back;
    }
    world_.net.retry();
}

void troublemaker::strike_client(fault f)
{
    process& p = *processes_[world_.chance.below(processes_.size())];
    if (!p.running() || p.frozen())
        return;
    ++counts_[static_cast<std::size_t>(f)];
    if (f == fault::client_cut_off) {
        world_.note(p.name(), std::string(name_of(f)));
        const bool out = world_.chance.chance(0.7), back = !out || world_.chance.chance(0.7);
        cut_off(p, out, back);
        return world_.time.after(some_time(), [this, &p] { cut_off(p, false, false); });
    }
    if (f == fault::client_crashed) {
        p.crash();
        return world_.time.after(some_time(), [this, &p] { restart(p); });
    }
    f == fault::client_suspended ? p.suspend() : p.freeze();
    world_.time.after(some_time(), [&p] {
        if (p.frozen())
            p.wake_up();
    });
}

void troublemaker::mend_everything()
{
    over_ = true;
    for (std::size_t c = 0; c < processes_.size(); ++c) {
        for (std::size_t n = 0; n < servers_.size(); ++n) {
            route& r = world_.net.between(c, n);
            r.slow = 0;
            r.trickles = r.lost_out = r.lost_back = false;
        }
    }
    for (const auto& node : servers_) {
        node->set_trouble(trouble::none);
        if (node->frozen())
            node->thaw();
    }
    // Crashed nodes restart at their planned times: some must not restart earlier.
    for (const auto& p : processes_) {
        if (!p->running())
            restart(*p);
        else if (p->frozen())
            p->wake_up();
    }
    world_.net.retry();
}

} // namespace holdfast::simulation
