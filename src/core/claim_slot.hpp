#pragma once

#include "core/admission_line.hpp"
#include "core/backend.hpp"
#include "core/lease_keeper.hpp"
#include "core/slot_map.hpp"
#include "core/time.hpp"

#include <chrono>
#include <cstdint>

namespace holdfast::core {

// A claim at the backend, whose events have the id of this slot: an attempt at first, then the
// lease that comes of it. `contest` owns it while it asks, `held_leases` from its grant on, and
// `lingering_leases` while it lingers.
struct claim_slot {
    enum class stage : std::uint8_t {
        asking,
        held,
        ended,
        releasing,
        lingering, // its holder is done, the next local wait may have it
    };

    stage now = stage::asking;
    attempt_load counts_as = attempt_load::none;
    slot_id queue = 0;
    claim_id claim = 0;
    lease_params terms{};
    bool whole_ttl = false, may_linger = false; // what the backend was told: see claim_params
    lease_keeper keeper{};
    time_point since{}; // of this stage, while it asks or is held
    time_point told{};  // when the backend granted it, or confirmed a renewal
    time_point extension_sent{}, extension_ends = never;
    std::uint64_t release_tag = 0;
};

// Until when the resource of a lease stays locked, although the lease has ended.
inline time_point rests_until(const claim_slot& lease) noexcept
{
    return lease.since + std::chrono::milliseconds(lease.terms.min_hold_ms);
}

using claim_slots = slot_map<claim_slot>;

// Whether there is this lease, and it lingers.
inline bool lingers(const claim_slots& slots, slot_id lease) noexcept
{
    const claim_slot* const s = slots.find(lease);
    return s != nullptr && s->now == claim_slot::stage::lingering;
}

// Whether an attempt or a lease with the first terms can also serve a wait with the second.
inline bool same_claim(const lease_params& a, const lease_params& b) noexcept
{
    return a.ttl == b.ttl && a.drift == b.drift && a.guard == b.guard &&
           a.min_hold_ms == b.min_hold_ms;
}

// What the backend is to know of an attempt with these terms: see claim_params.
inline bool may_linger(const lease_params& terms) noexcept
{
    return terms.linger_ms != 0;
}
inline bool needs_whole_ttl(const lease_params& terms) noexcept
{
    return terms.min_hold_ms != 0 || !terms.renews;
}

// Whether an attempt can go on for another wait.
inline bool serves(const claim_slot& attempt, const lease_params& terms) noexcept
{
    return same_claim(attempt.terms, terms) && attempt.may_linger >= may_linger(terms) &&
           attempt.whole_ttl >= needs_whole_ttl(terms);
}

// Whether too little is left of a lease to transfer it: see lock_options::handoff_time. A store may
// have granted less than the ttl.
inline bool is_too_old(
    const claim_slot& lease, const lease_params& next, bool lingered, time_point now) noexcept
{
    if (next.renews) // its last holder may not have renewed it
        return !lease.terms.renews &&
               lease.keeper.granted().until - now < next.ttl * 2 / 3 - next.drift;
    return !lingered && now - lease.told > next.handoff_time;
}

} // namespace holdfast::core
