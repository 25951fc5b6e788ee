// Processes that lock several resources together, in sets that overlap.

#include "recipes/joint_entry.hpp"
#include "verification/recipes/environment.hpp"
#include "verification/recipes/errand_player.hpp"
#include "verification/recipes/experiments.hpp"

#include <algorithm>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::recipe_simulation {

namespace {

// What is held together, as a multi_lease, and believed in until the first of it ends.
struct joint_hold {
    process& owner;
    std::vector<lease_pointer> members;

    time_point believed_until() const
    {
        return owner.true_time(recipes::joint_end(
            members, [](const lease_pointer& each) { return each->valid_until; }));
    }
    bool has(const std::string& resource) const
    {
        return std::any_of(members.begin(), members.end(),
            [&](const lease_pointer& each) { return each->resource == resource; });
    }
};
using hold_pointer = std::shared_ptr<joint_hold>;

class multi_lock_world {
public:
    explicit multi_lock_world(std::uint64_t seed)
        : all_(seed, 1 + seed % 5),
          resources_(2 + all_.w.random.below(5))
    {
        const std::size_t users = 1 + all_.w.random.below(3);
        for (process& each : all_.all) {
            for (std::size_t i = 0; i < users; ++i)
                users_.emplace_back(*this, each);
        }
        for (user& each : users_)
            each.think();
    }

    result run()
    {
        all_.w.run_until(time_point(environment::length));
        all_.become_quiet();
        all_.w.run_until(time_point(environment::length + environment::quiet));
        for (const user& each : users_) {
            if (each.waits() && !each.of.crashed())
                all_.w.violation("a user still waits in a quiet world");
        }
        for (std::size_t i = 0; i < resources_; ++i) {
            if (!all_.locks.is_free(name_of(i)))
                all_.w.violation("a resource is still locked, but no user holds it");
        }
        return {all_.w.violations, begun_};
    }

private:
    static std::string name_of(std::size_t resource) { return "r" + std::to_string(resource); }

    class user {
    public:
        user(multi_lock_world& w, process& p) : of(p), world_(w) {}

        void think()
        {
            const duration pause = random().of_any_size(100us, 5s);
            of.deliver_at(of.now() + pause, [this] {
                if (!world_.all_.is_quiet())
                    ask();
            });
        }
        bool waits() const noexcept { return player_ != nullptr; }

        process& of;

    private:
        dice& random() noexcept { return world_.all_.w.random; }
        void expect(bool good, const char* otherwise)
        {
            if (!good)
                world_.all_.w.violation(otherwise);
        }

        // Some resources, in the order that is the same for all.
        std::vector<std::string> some_names()
        {
            std::vector<std::string> chosen;
            for (std::size_t i = 0; i < world_.resources_; ++i)
                chosen.push_back(name_of(i));
            for (std::size_t left = random().below(chosen.size()); left > 0; --left)
                chosen.erase(chosen.begin() + static_cast<long>(random().below(chosen.size())));
            for (std::size_t i = chosen.size(); i > 1; --i)
                std::swap(chosen[i - 1], chosen[random().below(i)]);
            std::sort(chosen.begin(), chosen.end());
            return chosen;
        }

        void ask()
        {
            recipes::patience limit;
            limit.once = random().chance(0.2);
            if (!limit.once && random().chance(0.5))
                limit.until = of.now() + random().of_any_size(1ms, 20s);
            const auto names = some_names();
            player_ = std::make_shared<errand_player>(world_.all_.locks, of,
                std::make_shared<recipes::joint_entry>(names.size(), limit),
                [names](std::size_t i) { return names[i]; });
            const auto mine = std::weak_ptr(player_);
            if (random().chance(0.1))
                of.deliver_at(of.now() + random().of_any_size(100us, 2s), [this, mine] {
                    if (player_ && player_ == mine.lock()) {
                        std::exchange(player_, nullptr)->cancel();
                        think();
                    }
                });
            watch_deadline(limit);
            player_->begin([this, limit, names](error_code why, const lease_pointer& first) {
                const auto player = std::exchange(player_, nullptr);
                if (first) {
                    work(*player, names);
                    return;
                }
                expect(limit.once || why, "a wait ends without an error and without leases");
                expect(why != errc::contended || (!limit.once && of.now() >= limit.until),
                    "a wait has ended before its deadline");
                think();
            });
        }

        // Tries that are under way at the deadline are waited for.
        void watch_deadline(const recipes::patience& limit)
        {
            if (limit.until == core::never)
                return;
            const duration slack = 100ms + world_.all_.locks.ttl / 10;
            const auto mine = std::weak_ptr(player_);
            of.deliver_at(limit.until + slack, [this, mine, slack] {
                if (player_ && player_ == mine.lock() && of.has_run_for(slack))
                    world_.all_.w.violation("an attempt goes on beyond its deadline");
            });
        }

        void work(const errand_player& player, const std::vector<std::string>& names)
        {
            const auto held = std::make_shared<joint_hold>(joint_hold{of, {}});
            for (std::size_t i = 0; i < names.size(); ++i) {
                const lease_pointer each = player.lease_of(i);
                if (!each || !each->held() || each->resource != names[i]) {
                    world_.all_.w.violation("an attempt succeeds, but a member is not held");
                    return;
                }
                held->members.push_back(each);
            }
            const auto here = world_.begins(held);
            const auto working = std::make_shared<bool>(true);
            const auto stop = [this, held, here, working] {
                if (!std::exchange(*working, false))
                    return;
                world_.holds_.erase(here);
                for (const lease_pointer& each : held->members)
                    world_.all_.locks.release(each);
                think();
            };
            const bool stubborn = random().chance(0.2); // works on to the end of its leases
            for (const lease_pointer& each : held->members) {
                if (!stubborn)
                    each->when_lost(stop);
            }
            const duration length = random().of_any_size(1ms, stubborn ? duration(20s) : 5s);
            of.deliver_at(of.now() + length, stop);
        }

        multi_lock_world& world_;
        std::shared_ptr<errand_player> player_;
    };

    std::list<hold_pointer>::iterator begins(const hold_pointer& held)
    {
        ++begun_;
        for (const hold_pointer& other : holds_) {
            if (other->owner.crashed() || other->believed_until() <= all_.w.now())
                continue;
            for (const lease_pointer& each : held->members) {
                if (other->has(each->resource))
                    all_.w.violation("two holders of one resource");
            }
        }
        holds_.push_back(held);
        return std::prev(holds_.end());
    }

    environment all_;
    const std::size_t resources_;
    std::list<hold_pointer> holds_;
    std::size_t begun_ = 0;
    std::deque<user> users_;
};

} // namespace

result simulate_multi_lock(std::uint64_t seed)
{
    return multi_lock_world(seed).run();
}

} // namespace holdfast::recipe_simulation
