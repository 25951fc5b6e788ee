#pragma once

#include "core/backend.hpp"
#include "core/claim_slot.hpp"
#include "core/closing.hpp"
#include "core/contest.hpp"
#include "core/effect.hpp"
#include "core/holders.hpp"
#include "core/report.hpp"
#include "core/token_source.hpp"
#include "core/wait_queues.hpp"

#include <holdfast/options.hpp>

#include <optional>

namespace holdfast::core {

// Makes all decisions of a locker: the order of waiters, the time of attempts, the fate of leases.
//
// Pure: no I/O, no clock. Each call is given the time. Its effects are fetched afterwards with
// `next_effect()`. Not thread-safe.
class locker_core {
public:
    locker_core(backend_core& backend, entropy& random, const locker_options& options,
        std::uint64_t jitter_seed);

    // Puts a wait into the queue of its resource. Returns its id, or 0 if it has ended already.
    // `once`: it ends with its first attempt, and waits for the admission of that attempt at most
    // for `wait` or one node timeout, whichever is longer.
    slot_id acquire(std::uint64_t tag, std::string_view resource, const lease_params& terms,
        std::chrono::milliseconds wait, bool once, time_point now);
    // Removes a wait, without an effect. False if the wait has ended, or if an attempt was made for
    // it and `only_if_unsent` is set.
    bool cancel(slot_id wait, bool only_if_unsent, time_point now);

    // False if there is nothing to release; otherwise `released` follows.
    bool release(slot_id lease, std::uint64_t tag, time_point now);
    // The lease object is gone: gives the lease back. False if that has been done already.
    bool drop(slot_id lease, time_point now);
    // Does what is due for a lease. An extension that is over has had its `extended` then.
    void settle(slot_id lease, time_point now);
    // None if an extension is under way; `extended` follows then.
    errc extend(slot_id lease, time_point now);

    // Which leases are held, until when, and which must stop.
    const held_leases& leases() const noexcept { return holders_.leases(); }

    // Whether a lease of this locker holds the resource.
    bool holds(std::string_view resource) const noexcept { return queues_.holds(resource); }

    // Grants no more leases, and ends all waits. Holders keep their leases for up to `limit`.
    // `drained` follows each call, when nothing is held any more.
    void drain(std::chrono::milliseconds limit, time_point now);
    void close(time_point now);

    // How long the results of this core wait until they are delivered. If that is long, few
    // attempts are made until the next call, which has to come soon. True if so.
    bool note_lag(duration lag) noexcept;

    // The wall clock when the lease clock was 0; only people read it, in the stamps of tokens.
    void set_wall_clock(duration since_epoch) noexcept { tokens_.set_wall_clock(since_epoch); }
    // Neither drain() nor close() was called.
    bool grants() const noexcept { return !closing_.drains(); }
    // close() was called.
    bool closes() const noexcept { return closing_.begun(); }

    // To be called at `wake_at()`, and whenever the backend may have created events. `heard`: as
    // for the backend; all that has arrived if it is not given.
    void wake(time_point now, time_point heard = never);
    time_point wake_at() const noexcept;

    std::optional<effect> next_effect() { return report_.next_effect(); }
    journal& notes() noexcept { return report_.notes(); }
    void add_to(locker_stats& stats) const;

private:
    void absorb(time_point now); // handles the backend's events, then admits attempts
    void handle(const backend_event& event, time_point now);
    void end_without_leases(time_point now);
    void stop_granting(time_point now);

    backend_core& backend_;
    report report_;
    claim_slots slots_; // of attempts and leases
    wait_queues queues_;
    token_source tokens_;
    contest contest_;
    holders holders_;
    closing closing_;
};

} // namespace holdfast::core
