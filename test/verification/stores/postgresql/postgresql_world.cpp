#include "verification/stores/postgresql/postgresql_world.hpp"

#include "verification/stores/postgresql/client.hpp"

#include <algorithm>
#include <deque>

namespace holdfast::postgresql_simulation {

namespace {

constexpr duration faulty = 60s, quiet = 60s, ending = 40s;
constexpr duration longest_wait = 40s; // without faults, after all leases of the crashed ended

// Some processes that use a database. Faults happen until it becomes quiet.
class environment {
public:
    environment(std::uint64_t seed, bool forgets)
        : w(seed),
          server(w),
          judge(w),
          forgets_(forgets),
          resources_(1 + w.random.below(2)),
          ttl_(w.random.of_any_size(1s, 10s))
    {
        const std::size_t clients = 2 + w.random.below(3);
        while (all_.size() < clients)
            begin_client();
        if (w.random.chance(0.1))
            return; // a world without faults
        troubles& t = server.trouble;
        t.lost_statement = 0.03 * w.random.fraction();
        t.late_statement = 0.05 * w.random.fraction();
        t.lost_answer = 0.03 * w.random.fraction();
        t.lost_notification = w.random.chance(0.5) ? 0.5 * w.random.fraction() : 0;
        t.late_answer = w.random.chance(0.5) ? 0.3 * w.random.fraction() : 0;
        t.error = 0.05 * w.random.fraction();
        t.refused = 0.2 * w.random.fraction();
        if (w.random.chance(0.5))
            t.slowest = w.random.of_any_size(5ms, 1s);
        trouble_later();
        lock_later();
        if (forgets_)
            forget_later();
    }

    void run()
    {
        w.run_until(time_point(faulty));
        server.trouble = {};
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
    database_server server;
    referee judge;

private:
    void begin_client()
    {
        all_.emplace_back(w, server, judge, static_cast<int>(all_.size()), resources_, ttl_,
            [this] { tell_turns(); });
    }

    // Each is told to the connection that listens, if there is one.
    void tell_turns()
    {
        for (const test::sql_model::turn& each : server.model.turns()) {
            for (client& to : all_) {
                if (!to.runs().crashed() && to.link().listens(each.owner))
                    to.link().notify(each);
            }
        }
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
            return server.freeze(w.random.of_any_size(10ms, 8s));
        case 5: // a crash of the server, which keeps what it has committed
            for (client& each : all_)
                each.runs().deliver([&each] { each.link().break_off(); });
            return server.freeze(w.random.of_any_size(10ms, 3s));
        case 6:
            if (w.random.chance(0.1))
                server.set_clock_back(w.random.of_any_size(1ms, 10s));
            return;
        default:
            return unlucky.runs().deliver([&unlucky] { unlucky.link().break_off(); });
        }
    }

    void lock_later()
    {
        w.after(w.random.of_any_size(10ms, 10s), [this] {
            if (w.now() >= time_point(faulty))
                return;
            using lock = test::sql_model::lock;
            server.lock_row("r" + std::to_string(w.random.below(resources_)),
                w.random.chance(0.5) ? lock::row : lock::key, w.random.of_any_size(1ms, 2 * ttl_));
            lock_later();
        });
    }

    void forget_later()
    {
        server.remember();
        w.after(w.random.of_any_size(10ms, 2s), [this] {
            server.forget();
            if (w.now() < time_point(faulty))
                forget_later();
        });
    }

    const bool forgets_;
    const std::size_t resources_;
    const duration ttl_;
    std::deque<client> all_;
};

} // namespace

result simulate(std::uint64_t seed, bool forgets)
{
    environment e(seed, forgets);
    e.run();
    return {e.w.violations, e.judge.holds()};
}

} // namespace holdfast::postgresql_simulation
