#include "verification/stores/sql/sql_world.hpp"

#include "verification/stores/environment.hpp"
#include "verification/stores/sql/client.hpp"

#include <deque>

namespace holdfast::sql_simulation {

namespace {

// Some processes that use a database.
class sql_world final : public store_simulation::environment {
public:
    sql_world(std::uint64_t seed, const world_settings& settings)
        : environment(seed, 4),
          settings_(settings),
          server_(w)
    {
        server_.model.passes_over = settings.passes_over;
    }

private:
    duration choose_ttl() override { return w.random.of_any_size(1s, 10s); }

    store_simulation::client& add_client(const store_simulation::client_params& p) override
    {
        return all_.emplace_back(
            w, judge, p, server_, w.random.chance(settings_.told), [this] { tell_turns(); });
    }

    void begin_faults() override
    {
        troubles& t = server_.trouble;
        t.lost_statement = 0.03 * w.random.fraction();
        t.late_statement = 0.05 * w.random.fraction();
        t.lost_answer = 0.03 * w.random.fraction();
        t.lost_notification = w.random.chance(0.5) ? 0.5 * w.random.fraction() : 0;
        t.late_answer = w.random.chance(0.5) ? 0.3 * w.random.fraction() : 0;
        t.error = 0.05 * w.random.fraction();
        t.refused = 0.2 * w.random.fraction();
        if (w.random.chance(0.5))
            t.slowest = w.random.of_any_size(5ms, 1s);
    }
    void begin_events() override
    {
        repeat(10ms, 10s, [this] { lock_a_row(); });
        if (settings_.forgets)
            forget_later();
    }
    void end_faults() override { server_.trouble = {}; }

    void fail(std::size_t kind, std::size_t unlucky) override
    {
        const auto break_off = [](client& of) {
            of.runs().deliver([&of] { of.link().break_off(); });
        };
        switch (kind) {
        case 0:
            return server_.freeze(w.random.of_any_size(10ms, 8s));
        case 1: // a crash of the server, which keeps what it has committed
            for (client& each : all_)
                break_off(each);
            return server_.freeze(w.random.of_any_size(10ms, 3s));
        case 2:
            if (w.random.chance(0.1))
                server_.set_clock_back(w.random.of_any_size(1ms, 10s));
            return;
        default:
            return break_off(all_[unlucky]);
        }
    }

    // Each is told to the connection that listens, if there is one.
    void tell_turns()
    {
        for (const test::sql_model::turn& each : server_.model.turns()) {
            for (client& to : all_) {
                if (!to.runs().crashed() && to.link().listens(each.owner))
                    to.link().notify(each);
            }
        }
    }

    void lock_a_row()
    {
        using lock = test::sql_model::lock;
        server_.lock_row("r" + std::to_string(w.random.below(resources())),
            w.random.chance(0.5) ? lock::row : lock::key, w.random.of_any_size(1ms, 2 * ttl()));
    }

    void forget_later()
    {
        server_.remember();
        w.after(w.random.of_any_size(10ms, 2s), [this] {
            server_.forget();
            if (faults_happen())
                forget_later();
        });
    }

    const world_settings settings_;
    database_server server_;
    std::deque<client> all_;
};

} // namespace

store_simulation::result simulate(std::uint64_t seed, const world_settings& settings)
{
    return sql_world(seed, settings).run();
}

} // namespace holdfast::sql_simulation
