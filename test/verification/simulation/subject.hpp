#pragma once

#include "core/backend.hpp"
#include "core/locker_core.hpp"
#include "redis/dialect/fence_settings.hpp"
#include "verification/simulation/schedule.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::simulation {

// The system under test: the locks of one process, as the I/O layer sees them. The functions have
// the contracts of those of `core::locker_core`.
class subject {
public:
    virtual ~subject() = default;

    virtual core::slot_id acquire(std::uint64_t tag, std::string_view resource,
        const core::lease_params& terms, std::chrono::milliseconds wait, bool once,
        core::time_point now) = 0;
    virtual bool cancel(core::slot_id wait, bool only_if_unsent, core::time_point now) = 0;
    virtual bool release(core::slot_id lease, std::uint64_t tag, core::time_point now) = 0;
    virtual void drop(core::slot_id lease, core::time_point now) = 0;
    virtual errc extend(core::slot_id lease, core::time_point now) = 0;
    virtual bool held(core::slot_id lease, core::time_point now) = 0;
    virtual core::time_point valid_until(core::slot_id lease) = 0;
    // When the claim of this lease first asked the nodes, a true time; none if not known.
    virtual std::optional<nanoseconds> asked(core::slot_id) const { return std::nullopt; }
    // When that claim's last requests were sent before it was granted, or its turn came; none if
    // not known.
    virtual std::optional<core::time_point> decided(core::slot_id) const { return std::nullopt; }
    virtual void close(core::time_point now) = 0;
    // A lock that cannot drain closes.
    virtual void drain(std::chrono::milliseconds /*limit*/, core::time_point now) { close(now); }

    // `heard`: all bytes that had arrived by then have been read.
    virtual void wake(core::time_point now, core::time_point heard) = 0;
    virtual core::time_point wake_at() const = 0;
    virtual std::optional<core::effect> next_effect() = 0;
    virtual std::span<core::connection* const> connections() = 0;
    virtual core::duration patience(core::duration ttl) const = 0;
};

// The settings of one process.
struct subject_settings {
    std::size_t nodes = 0;
    core::entropy* random = nullptr;
    std::uint64_t jitter_seed = 0;
    std::optional<core::duration> node_timeout{};
    core::duration silence_timeout{};
    std::size_t most_requests = 0, most_bytes = 0; // under way to a node
    locker_options options{};
    std::optional<redis::fence_settings> fence{}; // none: plain mode
    std::function<nanoseconds()> true_time{};
    std::function<void()> on_attempt{}; // an attempt has a cost, whatever its outcome
};

// Makes the locks of a process that starts.
using subject_maker = std::unique_ptr<subject> (*)(const subject_settings& settings);

// The library's own lock.
std::unique_ptr<subject> make_shipped_lock(const subject_settings& settings);

} // namespace holdfast::simulation
