// Processes that elect a leader, again and again.

#include "recipes/candidacy.hpp"
#include "verification/recipes/environment.hpp"
#include "verification/recipes/experiments.hpp"
#include "verification/recipes/referee.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace holdfast::recipe_simulation {

namespace {

class election_world {
public:
    explicit election_world(std::uint64_t seed) : all_(seed, 2 + seed % 4)
    {
        for (process& each : all_.all)
            candidates_.emplace_back(*this, each);
        for (candidate& each : candidates_)
            each.begin();
    }

    result run()
    {
        all_.w.run_until(time_point(environment::length));
        all_.become_quiet();
        all_.w.run_until(time_point(environment::length + environment::quiet));
        bool alive = false, led = false;
        for (const candidate& each : candidates_) {
            alive |= each.is_left();
            led |= each.is_left() && each.leads();
        }
        if (alive && !led)
            all_.w.violation("no leader in a quiet world");
        return {all_.w.violations, referee_.begun()};
    }

private:
    using core = recipes::candidacy;

    class candidate {
    public:
        candidate(election_world& w, process& p)
            : world_(w),
              process_(p),
              core_(500ms, 20ms, 2s, w.all_.w.random.bits()),
              stubborn_(w.all_.w.random.chance(0.1))
        {}

        void begin()
        {
            perform(core_.begin(healthy(), process_.now()));
            trouble_later();
        }
        bool is_left() const noexcept
        {
            return !process_.crashed() && core_.now_in() != core::state::over;
        }
        bool leads() const noexcept { return core_.now_in() == core::state::leading; }

    private:
        dice& random() noexcept { return world_.all_.w.random; }
        bool quiet() const noexcept { return world_.all_.is_quiet(); }
        bool healthy() { return quiet() || !random().chance(0.05); }
        void after(duration delay, world::event what)
        {
            process_.deliver_at(process_.now() + delay, std::move(what));
        }

        void trouble_later()
        {
            after(random().of_any_size(100ms, 20s), [this] {
                if (quiet())
                    return;
                if (random().chance(0.05))
                    perform(core_.cancel());
                else
                    perform(core_.resign());
                trouble_later();
            });
        }

        void perform(core::action what)
        {
            switch (what) {
            case core::action::none:
                break;
            case core::action::campaign:
                campaign();
                break;
            case core::action::stop_campaign:
                world_.all_.locks.cancel(std::exchange(asked_, 0));
                perform(core_.refused(false, process_.now()));
                return;
            case core::action::start_work:
                work();
                break;
            case core::action::stop_work:
                if (!stubborn_) // it takes a while to stop, but less than the guard time
                    after(random().between(0ms, world_.all_.locks.guard() / 2),
                        [this, mine = term_] { end_work(mine, core::work_end::stopped); });
                break;
            case core::action::release:
            case core::action::finish:
                if (held_)
                    world_.all_.locks.release(std::exchange(held_, nullptr));
                break;
            }
            wake();
        }

        void campaign()
        {
            asked_ = world_.all_.locks.acquire(process_, "office", false, holdfast::core::never,
                [this](error_code, const lease_pointer& held) {
                    asked_ = 0;
                    held_ = held;
                    perform(held ? core_.granted(healthy(), process_.now())
                                 : core_.refused(false, process_.now()));
                });
        }

        void work()
        {
            ++term_;
            place_ = world_.referee_.begins(held_, referee::role::exclusive);
            if (world_.referee_.acting(referee::role::exclusive) > 1)
                world_.all_.w.violation("two leaders");
            judge_end(term_, held_);
            held_->when_lost([this, mine = term_] {
                if (mine == term_)
                    perform(core_.lost());
            });
            // Stubborn work does not stop when it is told to; it goes on for a while.
            if (stubborn_ || random().chance(0.02))
                after(random().of_any_size(1s, 30s),
                    [this, mine = term_] { end_work(mine, core::work_end::returned); });
        }

        // Work stops before its lease ends, unless its process stands still or it is stubborn.
        void judge_end(std::uint64_t term, const lease_pointer& held)
        {
            world_.all_.w.at(held->believed_until(), [this, term, held] {
                if (term != term_ || !place_ || stubborn_)
                    return;
                if (held->believed_until() > world_.all_.w.now())
                    judge_end(term, held);
                else if (process_.has_run_for(world_.all_.locks.guard()))
                    world_.all_.w.violation("a leader works beyond the end of its lease");
            });
        }

        void end_work(std::uint64_t term, core::work_end how)
        {
            if (term != term_ || !place_)
                return;
            world_.referee_.ends(*std::exchange(place_, std::nullopt));
            perform(core_.work_ended(how, process_.now()));
        }

        void wake()
        {
            const time_point when = core_.wake_at();
            if (when == holdfast::core::never)
                return;
            process_.deliver_at(when, [this, mine = ++wakes_] {
                if (mine == wakes_)
                    perform(core_.woken(healthy(), process_.now()));
            });
        }

        election_world& world_;
        process& process_;
        core core_;
        const bool stubborn_;
        lock_service::request_id asked_ = 0;
        lease_pointer held_;
        std::uint64_t term_ = 0, wakes_ = 0;
        std::optional<referee::place> place_; // while the work runs
    };

    environment all_;
    referee referee_{all_.w};
    std::deque<candidate> candidates_;
};

} // namespace

result simulate_election(std::uint64_t seed)
{
    return election_world(seed).run();
}

} // namespace holdfast::recipe_simulation
