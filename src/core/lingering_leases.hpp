#pragma once

#include "core/claim_slot.hpp"
#include "core/timer_queue.hpp"

#include <cstddef>

namespace holdfast::core {

// Keeps the leases of a locker that linger: they are not in use, and the next local wait may have
// them. Each is renewed like a lease in use. It is over after the time that it may linger, or a
// guard time before it ends: it would be of no use to a wait then. Does nothing itself: it says
// what is due.
class lingering_leases {
public:
    explicit lingering_leases(claim_slots& slots) noexcept : slots_(slots) {}

    // A lease whose holder is done lingers from now on. `patience`: as for held_leases.
    void begin(slot_id lease, duration patience, time_point now);

    // What is due now. Precondition: it lingers.
    struct due {
        bool renew = false;
        bool over = false; // end() follows
    };
    due service(slot_id lease, time_point now);

    // The backend reports a new validity. True if this confirms a renewal of a lease that lingers.
    bool confirm(slot_id lease, const validity& to, time_point now);

    // It does not linger any more. Precondition: it does.
    void end(slot_id lease);

    std::size_t count() const noexcept { return count_; }
    // When to call next_due(), which returns a lease to service, or 0.
    time_point wake_at() const noexcept { return wakes_.earliest(); }
    slot_id next_due(time_point now) noexcept
    {
        const auto index = wakes_.pop_due(now);
        return index ? slots_.id_at(*index) : 0;
    }

private:
    claim_slots& slots_;
    timer_queue wakes_;
    std::size_t count_ = 0;
};

} // namespace holdfast::core
