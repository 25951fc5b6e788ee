#include "verification/simulation/simulation.hpp"

#include "verification/simulation/process.hpp"
#include "verification/simulation/rollout.hpp"
#include "verification/simulation/server.hpp"
#include "verification/simulation/user.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;

// After the last fault: until silent connections have been noticed and replaced, and keys left by a
// crash have expired.
constexpr nanoseconds time_to_recover = 15s;

// After the last cut: until all connections are back and the clean-up that waited for them is done.
constexpr nanoseconds time_to_reconnect = 4s;

// When all users are idle, keys of leases that were held without faults are deleted within this.
constexpr nanoseconds time_to_clean_up = 100ms; // plus the delay to a slow node

constexpr nanoseconds time_to_close = 2s;

constexpr nanoseconds time_to_connect = 1s; // and to acquire uncontended locks

class world {
public:
    world(const experiment& what, std::uint64_t seed,
        std::function<void(nanoseconds, const std::string&)> trace)
        : chance_(seed),
          plan_(make(what, seed)),
          net_(time_, chance_),
          judge_(time_),
          around_{.time = time_,
              .chance = chance_,
              .net = net_,
              .judge = judge_,
              .settings = plan_,
              .make_subject = what.make_subject,
              .trace = {}},
          trouble_(around_, servers_, processes_, [this](process& p) { begin_users(p); }),
          rollout_(around_, processes_, [this](process& p) { begin_users(p); }),
          crowd_(around_, processes_)
    {
        if (trace)
            around_.trace = [this, trace](const std::string& line) {
                trace(time_.now(), line);
            };
        judge_.assume(plan_.given);
        build();
    }

    result run()
    {
        begin();
        const bool over = plan_.burst ? survive_burst() : survive_storm();
        if (over) {
            live_in_calm();
            wind_up();
        }
        judge_.conclude();
        return {.violations = judge_.violations(),
            .simulated = time_.now(),
            .leases = judge_.leases(),
            .events = time_.planned(),
            .fenced = plan_.fence.has_value(),
            .refused_writes = judge_.refused_writes(),
            .replaced = rollout_.replaced(),
            .faults = trouble_.happened(),
            .streams = net_.counted(),
            .burst = plan_.burst ? std::optional(crowd_.counted()) : std::nullopt};
    }

private:
    static bool is_fenced(const experiment& what, std::uint64_t seed)
    {
        using worlds = experiment::fenced_worlds;
        return what.fenced == worlds::only || (what.fenced == worlds::some && seed % 3 == 0);
    }

    plan make(const experiment& what, std::uint64_t seed)
    {
        if (what.bursts)
            return make_burst_plan(chance_, *what.bursts);
        dice load(~seed); // separate dice: the rest of the world does not depend on the load
        const bool anything = !what.contended && !what.lingering && !what.resting &&
                              !what.draining && !what.restrict_plan &&
                              what.fenced == experiment::fenced_worlds::some;
        if (anything && !is_fenced(what, seed) && load.chance(0.015))
            return make_burst_plan(load, burst_size::scaled);
        plan p = make_plan(chance_, {.contended = what.contended,
                                        .fenced = is_fenced(what, seed),
                                        .lingering = what.lingering,
                                        .resting = what.resting});
        add_costs(p, load);
        if (what.restrict_plan)
            what.restrict_plan(p);
        if (what.draining)
            roll_out(p);
        return p;
    }

    // A closing locker waits half a second for a node that does not answer. What that node keeps
    // then ends by its ttl.
    static void roll_out(plan& p)
    {
        p.rolls_out = true;
        p.slow_nodes = 0;
        p.given.nothing_is_late = false;
    }

    void build()
    {
        for (std::size_t i = 0; i < plan_.nodes; ++i) {
            const auto differ = static_cast<std::size_t>(plan_.node_clocks_differ.count());
            const auto shown = std::chrono::milliseconds(1'700'000'000'000 + chance_.below(differ));
            servers_.push_back(std::make_unique<server>(
                i, time_, net_, judge_, wall_clock(shown, plan_.node_ppm[i]), chance_.bits()));
            servers_.back()->work_costs(plan_.node_work);
            net_.add(*servers_.back());
            servers_.back()->allow_forward(plan_.set_forward_in_all);
            if (plan_.nodes_have_records)
                servers_.back()->remember(*plan_.fence);
            if (!plan_.queue)
                servers_.back()->forbid_subscriptions();
            if (around_.trace)
                servers_.back()->tell(around_.trace);
        }
        for (std::size_t i = 0; i < plan_.processes; ++i) {
            const auto shown = core::time_point(
                nanoseconds(1s) * (plan_.clocks_agree ? 1'000 : chance_.below(1'000'000)));
            processes_.push_back(
                std::make_unique<process>(i, around_, machine_clock(shown, plan_.client_ppm[i])));
            net_.add(*processes_.back());
            for (std::size_t n = 0; n < plan_.nodes; ++n) {
                const bool slow = n >= plan_.nodes - plan_.slow_nodes;
                net_.between(i, n).shortest = slow ? plan_.slow_delay / 2 : plan_.shortest_delay;
                net_.between(i, n).longest = slow ? plan_.slow_delay : plan_.longest_delay;
            }
            for (std::size_t u = 0; u < plan_.users; ++u)
                users_.push_back(std::make_unique<user>(u, around_, *processes_.back()));
        }
    }

    void begin_users(const process& p)
    {
        for (std::size_t u = 0; u < plan_.users; ++u)
            users_[p.number() * plan_.users + u]->begin();
    }

    void begin()
    {
        for (const auto& p : processes_) {
            p->start();
            begin_users(*p);
        }
        net_.lose_pushes(plan_.lost_pushes, plan_.repeated_pushes);
        net_.hold_at_most(plan_.socket_buffer);
        trouble_.begin();
        rollout_.begin();
        expire_now_and_then();
    }

    // Active expiry: keys expire even if no client reads them.
    void expire_now_and_then()
    {
        time_.after(chance_.between(10ms, plan_.terms.ttl), [this] {
            servers_[chance_.below(servers_.size())]->expire();
            if (!around_.winding_up)
                expire_now_and_then();
        });
    }

    void expire_everywhere()
    {
        for (const auto& s : servers_)
            s->expire();
    }

    bool survive_storm()
    {
        storm();
        recover();
        return true;
    }

    // False if the burst had a violation. Then the rest of the world is not run.
    bool survive_burst()
    {
        const burst_plan& b = *plan_.burst;
        const bool majority_moves = !b.frozen_node || plan_.nodes > 2;
        if (majority_moves)
            calm_begins();
        run_until(time_to_connect);
        crowd_.take_what_is_kept();
        run_until(time_to_connect * 2);
        if (!crowd_.keeps_everything())
            judge_.fail(property::progress, "not all leases before the burst were granted");
        crowd_.rush();
        const nanoseconds began = time_.now();
        if (b.frozen_node) {
            server& s = *servers_[*b.frozen_node];
            time_.at(began + b.frozen_from, [&s] { s.freeze(); });
            time_.at(began + b.frozen_from + b.frozen_for, [&s] { s.thaw(); });
        }
        // A busy event loop is late, so some waits begin and end late.
        time_.run_until(began + b.bound() + (b.wait < b.bound() ? b.wait + b.spread : 0ns),
            [this] { return crowd_.is_over(); });
        crowd_.judge_rush();
        if (!judge_.violations().empty())
            return false;
        // Attempts that ended without a grant left clean-up behind.
        run_until(std::max(time_.now(), began + b.bound()) + time_to_connect);
        if (!majority_moves)
            calm_begins();
        crowd_.probe();
        run_until(time_.now() + time_to_connect);
        crowd_.judge_probe();
        crowd_.give_back_what_is_kept();
        time_.run_until(time_.now() + time_to_close, [this] { return crowd_.gave_back(); });
        return true;
    }

    void storm()
    {
        if (plan_.faults.empty())
            calm_begins();
        time_.run_until(plan_.storm,
            [this] { return judge_.leases() >= plan_.leases || time_.planned() >= plan_.events; });
    }

    void recover()
    {
        around_.winding_up = true; // users begin no operations while the world recovers
        around_.note("world", "all faults end");
        trouble_.mend_everything();
        rollout_.end();
        net_.lose_pushes(0, 0);
        for (const auto& u : users_)
            u->hurry();
        const nanoseconds end = time_.now() + time_to_recover + plan_.longest_ttl * 4;
        run_until(time_.now() + time_to_reconnect);
        expire_everywhere();
        judge_.check_cleaned_up_after_cuts(time_to_reconnect);
        run_until(end);
        around_.winding_up = false;
        if (!judge_.calm())
            calm_begins();
    }

    void calm_begins() { judge_.calm_begins(); }

    void live_in_calm()
    {
        around_.note("world", "all users begin again");
        around_.calm = true;
        for (const auto& u : users_) {
            if (u->idle())
                u->begin();
        }
        const auto all_served = [this] {
            return std::all_of(users_.begin(), users_.end(),
                [](const auto& u) { return u->served_in_calm() >= 1; });
        };
        const nanoseconds end = time_.now() + plan_.longest_wait_in_calm() + 10s;
        time_.run_until(end, all_served);
        for (const auto& u : users_) {
            if (u->served_in_calm() == 0)
                judge_.fail(property::progress, u->name() + " was never served");
        }
    }

    void wind_up()
    {
        around_.note("world", "users begin no more operations");
        around_.winding_up = true;
        // Leases are given to users that give up at this moment. What is left of that is not
        // deleted by anybody else.
        if (around_.chance.chance(0.5)) {
            for (const auto& u : users_)
                u->give_up();
        }
        const auto all_idle = [this] {
            return std::all_of(
                users_.begin(), users_.end(), [](const auto& u) { return u->idle(); });
        };
        time_.run_until(time_.now() + 60s + plan_.longest_ttl * 30, all_idle);
        for (const auto& u : users_) {
            if (!u->idle())
                judge_.fail(property::operations, u->name() + " is not done");
        }
        // A slow node with small buffers takes requests one by one, and so many may wait for it.
        const nanoseconds longest_backlog =
            10s + plan_.slow_delay * 2 * static_cast<std::int64_t>(plan_.most_requests);
        const auto all_taken = [this] {
            return std::none_of(processes_.begin(), processes_.end(),
                [](const auto& p) { return p->has_output(); });
        };
        time_.run_until(time_.now() + longest_backlog, all_taken);
        if (!all_taken())
            judge_.fail(property::clean_up, "nodes did not take all requests");
        // A release gives the lease to the next waiter, finds none, and deletes the keys: three
        // one-way delays. A node that has lost the two scripts is sent both twice: seven.
        // Leases linger, and resources rest, for a time by their process's clock, which may be
        // slower than true time.
        const nanoseconds kept =
            plan_.longest_rest() + (plan_.for_long ? 0ns : plan_.longest_lingering());
        run_until(time_.now() + kept + kept / 100 + time_to_clean_up + plan_.slow_delay * 7);
        expire_everywhere();
        if (!plan_.for_long) {
            judge_.check_cleaned_up(judge_.calm_since());
            for (const auto& s : servers_)
                s->check_places(judge_.calm_since());
        }

        for (const auto& p : processes_)
            p->close();
        time_.run_until(time_.now() + time_to_close, [this] {
            return std::all_of(
                processes_.begin(), processes_.end(), [](const auto& p) { return p->closed(); });
        });
        for (const auto& p : processes_)
            p->check_closed();

        // In any case no key is left one ttl later, and no queue either.
        run_until(time_.now() + std::max<nanoseconds>(plan_.longest_ttl, 3s) * 102 / 100 + 1s);
        for (const auto& s : servers_) {
            if (s->keys() != 0)
                judge_.fail(property::clean_up,
                    "node " + std::to_string(s->number()) + " still has" + s->describe_keys());
        }
    }

    void run_until(nanoseconds end)
    {
        time_.run_until(end, [] { return false; });
    }

    schedule time_;
    dice chance_;
    const plan plan_;
    network net_;
    referee judge_;
    surroundings around_;
    std::vector<std::unique_ptr<server>> servers_;
    std::vector<std::unique_ptr<process>> processes_;
    std::vector<std::unique_ptr<user>> users_;
    troublemaker trouble_;
    rollout rollout_;
    crowd crowd_;
};

} // namespace

result simulate(const experiment& what, std::uint64_t seed,
    std::function<void(nanoseconds, const std::string&)> trace)
{
    return world(what, seed, std::move(trace)).run();
}

} // namespace holdfast::simulation
