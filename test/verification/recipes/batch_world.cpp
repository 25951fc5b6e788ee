// Processes that serve the requests for one hot resource in batches.

#include "verification/recipes/batch_player.hpp"
#include "verification/recipes/environment.hpp"
#include "verification/recipes/experiments.hpp"
#include "verification/recipes/referee.hpp"

#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast::recipe_simulation {

namespace {

class batch_world {
public:
    explicit batch_world(std::uint64_t seed) : all_(seed, 1 + seed % 4)
    {
        for (process& each : all_.all)
            shops_.emplace_back(*this, each);
        for (shop& each : shops_)
            each.begin();
    }

    result run()
    {
        all_.w.run_until(time_point(environment::length));
        all_.become_quiet();
        all_.w.run_until(time_point(environment::length + environment::quiet));
        for (const shop& each : shops_)
            each.judge_end();
        return {all_.w.violations, referee_.begun()};
    }

private:
    using batch_pointer = batch_player::batch_pointer;

    // A process with a batcher and its callers.
    class shop {
    public:
        shop(batch_world& w, process& p)
            : world_(w),
              process_(p),
              limits_(some_limits()),
              wait_(random().chance(0.3) ? duration(100h) : random().of_any_size(100ms, 10s)),
              judge_(w.all_.w, p, limits_, wait_),
              player_(w.all_.locks, p, limits_, wait_, judge_,
                  {.begin = [this](const batch_pointer& b) { work(b); },
                      .stop = [this](const batch_pointer& b) { stop(b); },
                      .answered = [this](const order_pointer&) { ++answers_; },
                      .closed =
                          [this] {
                              closed_ = true;
                          }})
        {}

        void begin()
        {
            arrive_later();
            judge_later();
            if (random().chance(0.2))
                after(random().of_any_size(1s, environment::length), [this] {
                    closing_ = true;
                    player_.close();
                });
        }

        void judge_end() const
        {
            if (process_.crashed())
                return;
            if (judge_.is_waited_for() || answers_ != orders_)
                world_.all_.w.violation("a request has no answer in a quiet world");
            if (closing_ && !closed_)
                world_.all_.w.violation("closing does not end in a quiet world");
        }

    private:
        dice& random() noexcept { return world_.all_.w.random; }
        void after(duration delay, world::event what)
        {
            process_.deliver_at(process_.now() + delay, std::move(what));
        }

        recipes::batch_params some_limits()
        {
            recipes::batch_params limits;
            limits.max_batch = 1 + random().below(8);
            limits.max_queued = 1 + random().below(25);
            if (random().chance(0.5))
                limits.gather = random().of_any_size(1ms, 2s);
            return limits;
        }

        void arrive_later()
        {
            after(random().of_any_size(100us, 2s), [this] {
                if (world_.all_.is_quiet())
                    return;
                for (std::size_t n = 1 + random().below(6); n > 0; --n)
                    submit();
                arrive_later();
            });
        }

        void submit()
        {
            const auto o = std::make_shared<order>();
            ++orders_;
            player_.submit(o);
            if (!random().chance(0.15))
                return;
            after(random().of_any_size(100us, 2s), [this, o, detach = random().chance(0.5)] {
                if (player_.cancel(o, detach))
                    ++answers_;
            });
        }

        void judge_later()
        {
            after(100ms, [this] {
                judge_.judge_waits();
                judge_later();
            });
        }

        void work(const batch_pointer& b)
        {
            here_ = world_.referee_.begins(b->held, referee::role::exclusive);
            if (world_.referee_.acting(referee::role::exclusive) > 1)
                world_.all_.w.violation("two batches are served at once");
            stubborn_ = random().chance(0.2);
            // Or until it is stopped.
            const bool endless = !world_.all_.is_quiet() && !stubborn_ && random().chance(0.02);
            const duration longest = stubborn_ ? 2 * world_.all_.locks.ttl : duration(500ms);
            after(endless ? environment::length : random().of_any_size(1ms, longest),
                [this, b] { finish(b); });
        }

        void finish(const batch_pointer& b)
        {
            if (b->over)
                return;
            using kind = detail::batch_ending::kind;
            detail::batch_ending how;
            how.replies = b->orders.size();
            if (random().chance(0.1)) {
                constexpr kind kinds[] = {
                    kind::returned, kind::error, kind::other_failure, kind::aborted};
                how.body = kinds[random().below(4)];
                how.replies = 0; // none of them has been served
                how.why = make_error_code(errc::unreachable);
            }
            if (how.replies == b->orders.size()) {
                for (const order_pointer& each : b->orders)
                    ++each->done;
            }
            end(b, how);
        }

        // A body that blocks is not stopped.
        void stop(const batch_pointer& b)
        {
            if (stubborn_)
                return;
            after(random().between(0ms, world_.all_.locks.guard() / 2), [this, b] {
                if (!b->over)
                    end(b, {.body = detail::batch_ending::kind::aborted});
            });
        }

        void end(const batch_pointer& b, const detail::batch_ending& how)
        {
            world_.referee_.ends(here_);
            player_.finish(b, how);
        }

        batch_world& world_;
        process& process_;
        const recipes::batch_params limits_;
        const duration wait_;
        batch_referee judge_;
        batch_player player_;
        referee::place here_;
        std::size_t orders_ = 0, answers_ = 0;
        bool stubborn_ = false, closing_ = false, closed_ = false;
    };

    environment all_;
    referee referee_{all_.w};
    std::deque<shop> shops_;
};

} // namespace

result simulate_batcher(std::uint64_t seed)
{
    return batch_world(seed).run();
}

} // namespace holdfast::recipe_simulation
