#pragma once

#include "core/effect.hpp"
#include "core/journal.hpp"
#include "core/ring.hpp"

#include <holdfast/stats.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::core {

// What has happened in a locker: as effects, in order, as statistics, and for observers.
class report {
public:
    report() = default;
    explicit report(const locker_options& options) : notes_(options) {}

    // These are effects. A lease that is acquired counts as well.
    void acquired(std::uint64_t wait_tag, slot_id lease, std::optional<std::uint64_t> fence);
    void wait_ended(std::uint64_t wait_tag, errc reason);
    void must_stop(slot_id lease);
    void gone(slot_id lease);
    void extended(slot_id lease, errc reason);
    void released(std::uint64_t release_tag, release_outcome outcome);
    void drained();
    void closed();

    // These only count.
    void attempted() noexcept { ++counts_.attempts; }
    void refused(errc reason) noexcept
    {
        ++(reason == errc::contended ? counts_.contended : counts_.unreachable);
    }
    void handed_over() noexcept { ++counts_.handed_over; }
    void resumed() noexcept { ++counts_.resumed; }
    void renewed() noexcept { ++counts_.renewals; }
    void given_up() noexcept { ++counts_.released; } // by its holder
    void lost() noexcept { ++counts_.lost; }

    // These only measure.
    void waited(duration d) noexcept { counts_.queue_wait.record(d); }
    void decided(duration d) noexcept { counts_.quorum_time.record(d); }
    void held_for(duration d) noexcept { counts_.hold_time.record(d); }
    void left(duration d) noexcept { counts_.validity_left.record(d); } // at the release

    journal& notes() noexcept { return notes_; }

    std::optional<effect> next_effect();
    const locker_stats& counts() const noexcept { return counts_; }

private:
    ring<effect> effects_;
    locker_stats counts_;
    journal notes_;
};

} // namespace holdfast::core
