#include "verification/stores/zookeeper/burst_world.hpp"

#include "verification/stores/zookeeper/burst_client.hpp"

#include <algorithm>
#include <deque>
#include <string>

namespace holdfast::zookeeper_simulation {

namespace {

using std::chrono::milliseconds;

constexpr int requests = 7;  // of an attempt on a new name, at most
constexpr int most_work = 3; // how many times as long as the work a burst may take
constexpr duration to_settle = 5s;

ensemble_settings settings(world& w, std::size_t attempts)
{
    ensemble_settings s;
    s.servers = w.random.chance(0.3) ? 1 : 3;
    s.tick = w.random.of_any_size(200ms, 2s);
    // The same work, however many attempts there are.
    s.command = w.random.of_any_size(3s, 10s) / static_cast<std::int64_t>(requests * attempts);
    s.slowest_disk = 500us;
    return s;
}

class burst_world {
public:
    burst_world(std::uint64_t seed, std::size_t attempts)
        : w_(seed),
          judge_(w_),
          servers_(w_, settings(w_, attempts)),
          attempts_(attempts),
          one_name_(w_.random.chance(0.3)),
          spread_(w_.random.chance(0.5) ? duration(0) : w_.random.of_any_size(1s, 10s)),
          ttl_(std::chrono::floor<milliseconds>(w_.random.of_any_size(4s, 10s)))
    {
        servers_.trouble.slowest = servers_.trouble.slowest_peers = 500us;
        servers_.begin();
        const std::size_t clients = 1 + w_.random.below(3);
        for (std::size_t i = 0; i <= clients; ++i)
            all_.emplace_back(w_, judge_, servers_, static_cast<int>(i), ttl_);
    }

    store_simulation::result run()
    {
        keep();
        w_.run_until(w_.now() + to_settle);
        check_kept();
        rush();
        all_.front().crash();
        const time_point crashed = w_.now();
        const time_point end = w_.now() + longest();
        while (w_.now() < end && waiting() != 0)
            w_.run_until(w_.now() + 100ms);
        if (waiting() != 0)
            w_.violation(std::to_string(waiting()) + " of " + std::to_string(attempts_) +
                         (one_name_ ? " attempts on one name" : " attempts on many names") +
                         " are not granted in time");
        check_kept();
        check_crashed(crashed);
        finish();
        return {w_.violations, judge_.holds()};
    }

private:
    // At once on one name: 10,000 changes a second, most of them within a process.
    duration longest() const
    {
        if (one_name_ && spread_ == duration(0))
            return static_cast<std::int64_t>(attempts_) * 100us + 1s;
        const duration work =
            servers_.settings().command * static_cast<std::int64_t>(requests * attempts_);
        return std::max(most_work * work, spread_) + spread_ + to_settle;
    }
    void keep()
    {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            for (int j = 0; j < 3; ++j)
                all_[i].acquire(
                    "kept" + std::to_string(i) + "_" + std::to_string(j), burst_client::for_good);
        }
    }
    void rush()
    {
        for (std::size_t i = 0; i < attempts_; ++i) {
            burst_client& c = all_[1 + w_.random.below(all_.size() - 1)];
            const duration hold = one_name_ ? duration(1us) : w_.random.of_any_size(1us, 10ms);
            const std::string name = one_name_ ? "one" : "r" + std::to_string(i);
            w_.after(w_.random.between(duration(0), spread_),
                [&c, name, hold] { c.acquire(name, hold); });
        }
        w_.run_until(w_.now() + 1us);
    }
    std::size_t waiting() const
    {
        std::size_t count = 0, asked = 0;
        for (std::size_t i = 1; i < all_.size(); ++i) {
            count += all_[i].waiting();
            asked += all_[i].waiting() + all_[i].granted() + all_[i].refused();
        }
        return count + attempts_ + 3 * (all_.size() - 1) - asked;
    }
    void check_kept()
    {
        for (std::size_t i = 1; i < all_.size(); ++i) {
            if (all_[i].lost() != 0)
                w_.violation("a lease was lost");
            if (all_[i].refused() != 0)
                w_.violation("an attempt was refused that waits for ever");
        }
    }
    // Its session ends a tick later at most than its timeout, and some commits later.
    void check_crashed(time_point crashed)
    {
        const duration timeout = servers_.session_timeout(ttl_);
        w_.run_until(std::max(w_.now(), crashed + timeout + 2 * servers_.settings().tick + 2s));
        for (const auto& [path, node] : servers_.truth().nodes()) {
            if (path.starts_with("/holdfast/kept0_") && path.find("-lock-") != path.npos)
                w_.violation("a lock of a crashed process stays: " + path);
        }
    }
    void finish()
    {
        for (std::size_t i = 1; i < all_.size(); ++i) {
            if (all_[i].held() < 3)
                w_.violation("a lease that was to be kept is not held");
            all_[i].give_back();
        }
        w_.run_until(w_.now() + to_settle);
        for (std::size_t i = 1; i < all_.size(); ++i)
            all_[i].close();
        w_.run_until(w_.now() + to_settle);
        for (std::size_t i = 1; i < all_.size(); ++i) {
            if (!all_[i].is_closed())
                w_.violation("a locker does not close");
        }
        if (!servers_.truth().sessions().empty())
            w_.violation("a session is left");
    }

    world w_;
    store_simulation::referee judge_;
    ensemble servers_;
    const std::size_t attempts_;
    const bool one_name_;
    const duration spread_;
    const milliseconds ttl_;
    std::deque<burst_client> all_; // the first one crashes
};

} // namespace

store_simulation::result simulate_burst(std::uint64_t seed, std::size_t attempts)
{
    return burst_world(seed, attempts).run();
}

} // namespace holdfast::zookeeper_simulation
