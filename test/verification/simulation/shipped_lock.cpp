#include "redis/redlock_core.hpp"
#include "verification/simulation/asked_backend.hpp"
#include "verification/simulation/subject.hpp"

#include <string>
#include <utility>
#include <vector>

namespace holdfast::simulation {

namespace {

std::vector<redis::node_settings> nodes_of(const subject_settings& s)
{
    using namespace std::chrono_literals;
    std::vector<redis::node_settings> all(s.nodes);
    for (std::size_t i = 0; i < s.nodes; ++i) {
        const std::string name = "node" + std::to_string(i);
        all[i] = {.where = {.host = name, .port = 6379, .path = {}},
            .name = name,
            .user = {},
            .password = {},
            .client_name = "simulated",
            .connect_timeout = 2s,
            .silence_timeout = s.silence_timeout,
            .reconnect_min = 50ms,
            .reconnect_max = 2s,
            .max_requests = s.most_requests,
            .max_bytes = s.most_bytes};
    }
    return all;
}

class shipped_lock final : public subject {
public:
    explicit shipped_lock(const subject_settings& s)
        : backend_(nodes_of(s), s.node_timeout, s.jitter_seed, s.fence),
          asked_(backend_, s.true_time, s.on_attempt),
          locker_(asked_, *s.random, s.options, s.jitter_seed + 1)
    {}

    core::slot_id acquire(std::uint64_t tag, std::string_view resource,
        const core::lease_params& terms, std::chrono::milliseconds wait, bool once,
        core::time_point now) override
    {
        return locker_.acquire(tag, resource, terms, wait, once, now);
    }
    bool cancel(core::slot_id wait, bool only_if_unsent, core::time_point now) override
    {
        return locker_.cancel(wait, only_if_unsent, now);
    }
    bool release(core::slot_id lease, std::uint64_t tag, core::time_point now) override
    {
        return locker_.release(lease, tag, now);
    }
    void drop(core::slot_id lease, core::time_point now) override { locker_.drop(lease, now); }
    errc extend(core::slot_id lease, core::time_point now) override
    {
        return locker_.extend(lease, now);
    }
    bool held(core::slot_id lease, core::time_point now) override
    {
        return locker_.leases().held(lease, now);
    }
    core::time_point valid_until(core::slot_id lease) override
    {
        return locker_.leases().valid_until(lease);
    }
    std::optional<nanoseconds> asked(core::slot_id lease) const override
    {
        return asked_.asked(lease);
    }
    std::optional<core::time_point> decided(core::slot_id lease) const override
    {
        return asked_.decided(lease);
    }
    void close(core::time_point now) override { locker_.close(now); }
    void drain(std::chrono::milliseconds limit, core::time_point now) override
    {
        locker_.drain(limit, now);
    }
    void wake(core::time_point now, core::time_point heard) override { locker_.wake(now, heard); }
    core::time_point wake_at() const override { return locker_.wake_at(); }
    std::optional<core::effect> next_effect() override { return locker_.next_effect(); }
    std::span<core::connection* const> connections() override { return backend_.connections(); }
    core::duration patience(core::duration ttl) const override { return backend_.patience(ttl); }

private:
    redis::redlock_core backend_;
    asked_backend asked_;
    core::locker_core locker_;
};

} // namespace

std::unique_ptr<subject> make_shipped_lock(const subject_settings& settings)
{
    return std::make_unique<shipped_lock>(settings);
}

} // namespace holdfast::simulation
