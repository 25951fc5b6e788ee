#pragma once

#include "core/claim_slot.hpp"
#include "core/timer_queue.hpp"

#include <holdfast/error.hpp>

#include <cstddef>

namespace holdfast::core {

// Keeps the leases of a locker, from the grant to the end of the release: when each is renewed,
// must stop or is over, and how its extensions end. Does nothing itself: it says what is due.
class held_leases {
public:
    explicit held_leases(claim_slots& slots) noexcept : slots_(slots) {}

    // A claim becomes a lease. `patience`: how long the answers to a renewal may take.
    void begin(slot_id lease, const validity& granted, duration patience, time_point now);

    // What is due now, in this order. Nothing if the lease is not held.
    struct due {
        bool extension_failed = false; // no answer in time
        bool renew = false;
        bool must_stop = false;
        bool over = false; // end() follows
    };
    due service(slot_id lease, time_point now);

    // Another extension shares the one under way: then false. Otherwise the caller sends a renewal.
    bool begin_extension(slot_id lease, duration patience, time_point now);
    // The backend reports a new validity. Tells what it confirms.
    struct confirmation {
        bool renewed = false, extended = false;
    };
    confirmation confirm(slot_id lease, const validity& to, time_point now);

    // The work must stop now, a guard time before the lease ends. True if it was not told before.
    bool stop(slot_id lease, time_point now);
    // The lease is not held any more, and not renewed.
    void end(slot_id lease, claim_slot::stage next);
    void forget(slot_id lease);

    // None while work may go on; otherwise the reason to stop: `lease_lost` or `not_held`.
    errc must_stop(slot_id lease) const noexcept;
    bool alive(slot_id lease) const noexcept; // held, or ended without the user's knowledge
    bool is_held(slot_id lease) const noexcept;
    bool held(slot_id lease, time_point now) const noexcept;
    time_point valid_until(slot_id lease) const noexcept; // `long_ago` if the lease has ended

    std::size_t count() const noexcept { return count_; }
    // When to call next_due(), which returns a lease to service, or 0.
    time_point wake_at() const noexcept { return wakes_.earliest(); }
    slot_id next_due(time_point now) noexcept
    {
        const auto index = wakes_.pop_due(now);
        return index ? slots_.id_at(*index) : 0;
    }

private:
    void arm(slot_id lease, const claim_slot& s);

    claim_slots& slots_;
    timer_queue wakes_;
    std::size_t count_ = 0;
};

} // namespace holdfast::core
