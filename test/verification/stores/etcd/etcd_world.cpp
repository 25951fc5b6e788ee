#include "verification/stores/etcd/etcd_world.hpp"

#include "verification/stores/etcd/client.hpp"

#include <algorithm>
#include <deque>

namespace holdfast::etcd_simulation {

namespace {

constexpr duration faulty = 60s, quiet = 60s, ending = 40s;
constexpr duration longest_wait = 40s; // without faults, after all sessions of the crashed ended

// Some processes that use a cluster. Faults happen until it becomes quiet.
class environment {
public:
    explicit environment(std::uint64_t seed)
        : w(seed),
          servers(w),
          judge(w),
          resources_(1 + w.random.below(2)),
          ttl_(w.random.chance(0.5) ? w.random.of_any_size(2s, 10s)
                                    : duration(2s + 1s * w.random.below(6)))
    {
        const std::size_t clients = 2 + w.random.below(3);
        while (all_.size() < clients)
            begin_client();
        if (w.random.chance(0.1))
            return; // a world without faults
        troubles& t = servers.trouble;
        t.break_off = 0.03 * w.random.fraction();
        t.no_answer = 0.03 * w.random.fraction();
        t.error = 0.05 * w.random.fraction();
        t.late_watch = 0.3 * w.random.fraction();
        t.refused = 0.2 * w.random.fraction();
        if (w.random.chance(0.5))
            t.slowest = w.random.of_any_size(5ms, 1500ms);
        trouble_later();
        touch_later();
    }

    void run()
    {
        w.run_until(time_point(faulty));
        servers.trouble = {};
        for (client& each : all_)
            each.be_patient();
        w.run_until(time_point(faulty + quiet));
        for (client& each : all_) {
            if (!each.runs().crashed() && each.longest_wait() > longest_wait)
                w.violation("a process waits for ever");
            each.stop();
        }
        w.run_until(time_point(faulty + quiet + ending));
        judge_end();
    }

    world w;
    cluster servers;
    referee judge;

private:
    void begin_client()
    {
        all_.emplace_back(w, servers, judge, static_cast<int>(all_.size()), resources_, ttl_);
    }

    // Nothing may be left when all users have given back what they had.
    void judge_end()
    {
        for (client& each : all_) {
            if (each.runs().crashed())
                continue;
            if (!each.is_done())
                w.violation("a release has no end");
            else if (!each.store().cleanup().is_done())
                w.violation("a store does not end its clean-up");
        }
        for (const auto& [name, key] : servers.model.keys()) {
            if (!name.starts_with("~holdfast:"))
                w.violation("a key is left in a queue: " + name);
        }
        for (client& each : all_)
            each.close();
        w.run_until(w.now() + 5s);
        for (client& each : all_) {
            if (!each.runs().crashed() && !each.store().cleanup().is_done())
                w.violation("a store does not give its session back");
        }
        if (servers.model.leases() != 0)
            w.violation("a session is left");
    }

    void trouble_later()
    {
        w.after(w.random.of_any_size(50ms, 20s), [this] {
            if (w.now() >= time_point(faulty))
                return;
            trouble();
            trouble_later();
        });
    }

    void trouble()
    {
        client& unlucky = all_[w.random.below(all_.size())];
        switch (w.random.below(8)) {
        case 0:
        case 1:
        case 2:
            return unlucky.runs().pause_for(w.random.of_any_size(ttl_ / 20, 2 * ttl_));
        case 3:
            if (unlucky.runs().crashed() || w.random.chance(0.5))
                return;
            unlucky.crash();
            return w.after(w.random.of_any_size(1ms, 10s), [this] { begin_client(); });
        case 4:
            return servers.freeze(servers.leader(), w.random.of_any_size(10ms, 8s));
        case 5:
            return servers.freeze(w.random.below(cluster::size), w.random.of_any_size(10ms, 15s));
        case 6:
            return servers.change_leader();
        default:
            return servers.compact();
        }
    }

    void touch_later()
    {
        w.after(w.random.of_any_size(10ms, 5s), [this] {
            if (w.now() >= time_point(faulty))
                return;
            servers.touch_a_key();
            touch_later();
        });
    }

    const std::size_t resources_;
    const duration ttl_;
    std::deque<client> all_;
};

} // namespace

result simulate(std::uint64_t seed)
{
    environment e(seed);
    e.run();
    return {e.w.violations, e.judge.holds()};
}

} // namespace holdfast::etcd_simulation
