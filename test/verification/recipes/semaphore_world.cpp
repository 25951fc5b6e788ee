// Processes that share the permits of a semaphore.

#include "recipes/slot_search.hpp"
#include "verification/recipes/environment.hpp"
#include "verification/recipes/errand_player.hpp"
#include "verification/recipes/experiments.hpp"
#include "verification/recipes/referee.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::recipe_simulation {

namespace {

constexpr duration step_of_judge = 50ms;

std::string slot_name(std::size_t slot)
{
    return "slot " + std::to_string(slot);
}

// The semaphore as one process has it.
struct semaphore {
    process& owner;
    recipes::slot_board board;
};

class semaphore_world {
public:
    explicit semaphore_world(std::uint64_t seed)
        : all_(seed, 1 + seed % 5),
          permits_(1 + all_.w.random.below(12)),
          interval_(all_.locks.ttl / 8)
    {
        const std::size_t users = 1 + all_.w.random.below(4);
        for (process& each : all_.all) {
            semaphores_.push_back({each, recipes::slot_board(permits_)});
            for (std::size_t i = 0; i < users; ++i)
                users_.emplace_back(*this, semaphores_.back());
        }
        for (user& each : users_)
            each.think();
        if (all_.w.random.chance(0.3) && permits_ > 1)
            hogs_ = permits_ - 1; // permits that are kept to the end
    }

    result run()
    {
        all_.w.run_until(time_point(environment::length));
        all_.become_quiet();
        // What faults have caused is over after some ttls: grants without an owner have ended.
        const time_point calm = all_.w.now() + 4 * all_.locks.ttl;
        all_.w.at(calm, [this] { judge_progress(); });
        all_.w.run_until(time_point(environment::length + environment::quiet));
        for (const user& each : users_) {
            if (each.waits() && !each.of.owner.crashed())
                all_.w.violation("a user still waits in a quiet world");
        }
        return {all_.w.violations, referee_.begun()};
    }

private:
    class user {
    public:
        user(semaphore_world& w, semaphore& s) : of(s), world_(w) {}

        void think()
        {
            dice& random = world_.all_.w.random;
            const duration pause = random.of_any_size(100us, 5s);
            of.owner.deliver_at(of.owner.now() + pause, [this] {
                if (!world_.all_.is_quiet())
                    ask();
            });
        }
        bool waits() const noexcept { return player_ != nullptr; }

        semaphore& of;

    private:
        void ask()
        {
            world& w = world_.all_.w;
            recipes::patience limit;
            limit.once = w.random.chance(0.2);
            if (!limit.once && w.random.chance(0.5))
                limit.until = of.owner.now() + w.random.of_any_size(1ms, 20s);
            player_ = std::make_shared<errand_player>(world_.all_.locks, of.owner,
                std::make_shared<recipes::slot_search>(
                    of.board, limit, world_.interval_, w.random.bits()),
                slot_name);
            if (w.random.chance(0.1))
                of.owner.deliver_at(of.owner.now() + w.random.of_any_size(100us, 2s),
                    [this, mine = std::weak_ptr(player_)] {
                        if (player_ && player_ == mine.lock()) {
                            std::exchange(player_, nullptr)->cancel();
                            think();
                        }
                    });
            player_->begin([this](error_code, const lease_pointer& held) {
                player_ = nullptr;
                if (held)
                    work(held);
                else
                    think();
            });
        }

        void work(const lease_pointer& held)
        {
            referee& judge = world_.referee_;
            const referee::place here = judge.begins(held, referee::role::exclusive);
            if (judge.acting(referee::role::exclusive) > world_.permits_)
                world_.all_.w.violation("more holders than permits");
            const auto working = std::make_shared<bool>(true);
            const auto stop = [this, held, here, working] {
                if (!std::exchange(*working, false))
                    return;
                world_.referee_.ends(here);
                world_.all_.locks.release(held);
                think();
            };
            held->when_lost(stop);
            const bool hog = world_.hogs_ > 0 && world_.all_.w.random.chance(0.2);
            if (hog) {
                --world_.hogs_; // stays until its lease is lost
                return;
            }
            const duration length = world_.all_.w.random.of_any_size(1ms, 5s);
            of.owner.deliver_at(of.owner.now() + length, stop);
        }

        semaphore_world& world_;
        std::shared_ptr<errand_player> player_;
    };

    // No user waits for long while a permit is free and is not taken.
    void judge_progress()
    {
        bool waited = false;
        for (const user& each : users_)
            waited |= each.waits() && each.of.owner.runs();
        const duration bound = interval_ + (permits_ + 2) * 50ms + 2 * step_of_judge;
        for (std::size_t i = 0; i < permits_; ++i) {
            idle_slot& slot = idle_[i];
            const auto grants = all_.locks.grants(slot_name(i));
            const bool idle = waited && all_.locks.is_free(slot_name(i)) && grants == slot.grants;
            slot = {grants, idle ? slot.length + step_of_judge : duration(0)};
            if (slot.length > bound) {
                all_.w.violation("a user waits while a permit is free");
                return;
            }
        }
        all_.w.after(step_of_judge, [this] { judge_progress(); });
    }

    // For how long a slot has been free while a user waited.
    struct idle_slot {
        std::uint64_t grants = 0;
        duration length{};
    };

    environment all_;
    const std::size_t permits_;
    const duration interval_;
    std::size_t hogs_ = 0;
    referee referee_{all_.w};
    std::deque<semaphore> semaphores_;
    std::deque<user> users_;
    std::vector<idle_slot> idle_ = std::vector<idle_slot>(permits_);
};

} // namespace

result simulate_semaphore(std::uint64_t seed)
{
    return semaphore_world(seed).run();
}

} // namespace holdfast::recipe_simulation
