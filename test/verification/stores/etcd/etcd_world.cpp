#include "verification/stores/etcd/etcd_world.hpp"

#include "verification/stores/environment.hpp"
#include "verification/stores/etcd/client.hpp"

#include <deque>

namespace holdfast::etcd_simulation {

namespace {

// Some processes that use a cluster.
class etcd_world final : public store_simulation::environment {
public:
    explicit etcd_world(std::uint64_t seed) : environment(seed, 4), servers_(w) {}

private:
    duration choose_ttl() override
    {
        return w.random.chance(0.5) ? w.random.of_any_size(2s, 10s)
                                    : duration(2s + 1s * w.random.below(6));
    }

    store_simulation::client& add_client(const store_simulation::client_params& p) override
    {
        return all_.emplace_back(w, judge, p, servers_);
    }

    void begin_faults() override
    {
        troubles& t = servers_.trouble;
        t.break_off = 0.03 * w.random.fraction();
        t.no_answer = 0.03 * w.random.fraction();
        t.error = 0.05 * w.random.fraction();
        t.late_watch = 0.3 * w.random.fraction();
        t.refused = 0.2 * w.random.fraction();
        t.slow_openings = w.random.chance(0.5);
        if (w.random.chance(0.5))
            t.slowest = w.random.of_any_size(5ms, 1500ms);
    }
    void begin_events() override
    {
        repeat(10ms, 5s, [this] { servers_.touch_a_key(); });
    }
    // In some worlds one member stands still to the end, which must not matter.
    void end_faults() override
    {
        servers_.trouble = {.slow_openings = servers_.trouble.slow_openings};
        if (w.random.chance(0.3))
            servers_.freeze(w.random.below(cluster::size), 1h);
    }

    void fail(std::size_t kind, std::size_t) override
    {
        switch (kind) {
        case 0:
            return servers_.freeze(servers_.leader(), w.random.of_any_size(10ms, 8s));
        case 1:
            return servers_.freeze(w.random.below(cluster::size), w.random.of_any_size(10ms, 15s));
        case 2:
            return servers_.change_leader();
        default:
            return servers_.compact();
        }
    }

    void check_when_idle() override
    {
        for (const auto& [name, key] : servers_.model.keys()) {
            if (!name.starts_with("~holdfast:"))
                w.violation("a key is left in a queue: " + name);
        }
    }
    void check_when_closed() override
    {
        if (servers_.model.leases() != 0)
            w.violation("a session is left");
    }

    cluster servers_;
    std::deque<client> all_;
};

} // namespace

store_simulation::result simulate(std::uint64_t seed)
{
    return etcd_world(seed).run();
}

} // namespace holdfast::etcd_simulation
