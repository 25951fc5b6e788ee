#pragma once

#include "core/admission.hpp"
#include "core/backend.hpp"
#include "core/backoff.hpp"
#include "core/lease_keeper.hpp"
#include "core/line_forecast.hpp"
#include "core/ring.hpp"
#include "core/slot_map.hpp"
#include "core/timer_queue.hpp"
#include "core/wait_queues.hpp"

#include <holdfast/options.hpp>

#include <optional>
#include <vector>

namespace holdfast::core {

// What the locker core tells the I/O layer.
enum class effect_kind : std::uint8_t {
    acquired,   // the wait `tag` gets `lease`
    wait_ended, // the wait `tag` ends with `reason`; none: a single attempt found it held
    must_stop,  // the work under `lease` must stop
    gone,       // `lease` was released
    extended,   // all extensions of `lease` end with `reason`, or without one
    released,   // the release `tag` ends with `outcome`
    closed,     // nothing is held, and all connections may be closed
};

struct effect {
    effect_kind kind{};
    release_outcome outcome{};
    errc reason{};
    std::uint64_t tag = 0;
    slot_id lease = 0;
    std::optional<std::uint64_t> fence{};
};

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
    // None if an extension is under way; `extended` follows then.
    errc extend(slot_id lease, time_point now);

    // None while work may go on; otherwise the reason to stop: `lease_lost` or `not_held`.
    errc must_stop(slot_id lease) noexcept;
    bool alive(slot_id lease) noexcept; // granted, not released, not dropped
    bool held(slot_id lease, time_point now) noexcept;
    time_point valid_until(slot_id lease) noexcept; // `long_ago` if the lease has ended

    void close(time_point now);

    // How long the results of this core wait until they are delivered. If that is long, few
    // attempts are made until the next call, which has to come soon. True if so.
    bool note_lag(duration lag) noexcept;

    // To be called at `wake_at()`, and whenever the backend may have created events. `heard`: as
    // for the backend.
    void wake(time_point now, time_point heard);
    void wake(time_point now) { wake(now, now); }
    time_point wake_at() const noexcept;

    std::optional<effect> next_effect();
    void add_to(locker_stats& stats) const;

private:
    struct lease_slot {
        enum class state : std::uint8_t { asking, held, ended, releasing };
        state now = state::asking;
        enum class load : std::uint8_t { none, under_way, parked } counts_as = load::none;
        slot_id queue = 0;
        claim_id claim = 0;
        lease_params terms{};
        lease_keeper keeper{};
        time_point extension_sent{}, extension_ends = never;
        std::uint64_t release_tag = 0;
    };
    // How many attempts may wait in the backend's queues. The number is limited because each asks
    // now and then whether its turn has come.
    static constexpr std::size_t most_parked = 2048;

    using state = lease_slot::state;
    using load = lease_slot::load;

    void absorb(time_point now); // handles the backend's events, then admits attempts
    void absorb_events(time_point now);
    void on_granted(const backend_event& event, time_point now);
    void on_refused(const backend_event& event, time_point now);
    void on_validity(const backend_event& event, time_point now);
    void on_released(const backend_event& event);
    void on_frees(const backend_event& event, time_point now);
    duration pause_after(unsigned failures, errc reason, duration held_up);

    void serve(slot_id queue, time_point now);
    void serve_soon(slot_id queue, time_point now);
    void ask(slot_id queue, time_point now);
    void stand_in_line(slot_id queue, time_point now);
    bool admit_next(time_point now);
    void leave_line(wait_queue& queue) noexcept;
    bool ends_before_an_answer(const wait_queue& queue, time_point now) noexcept;
    void park(slot_id lease);
    void withdraw(slot_id lease) noexcept;
    void install(
        slot_id lease, const validity& granted, std::optional<std::uint64_t> fence, time_point now);
    bool hand_over(slot_id lease, time_point now);
    bool turns_are_over(const wait_queue& queue, time_point now);
    bool turns_are_spent(const wait_queue& queue, time_point now);
    duration pause_between_turns(wait_queue& queue, time_point now);
    void end_turn(slot_id queue, time_point now);
    // No reason: the time is up, and the reason is that of its attempts.
    void end_wait(slot_id wait, errc reason, time_point now);
    void leave(slot_id wait, time_point now);
    void give_back(slot_id lease, time_point now);
    void stop_keeping(slot_id lease);
    void lose(slot_id lease, time_point now);
    void service_lease(slot_id lease, time_point now);
    void arm(slot_id lease);
    void forget(slot_id lease);
    void finish_closing(time_point now);
    void emit(const effect& e) { effects_.push(e); }

    backend_core& backend_;
    entropy& entropy_;
    duration retry_min_, retry_max_;
    std::size_t max_waiting_;
    jitter jitter_;

    admission admission_;
    ring<slot_id> line_;      // queues whose next attempt waits for admission, and former ones
    std::size_t in_line_ = 0; // those that wait now
    line_forecast forecast_;
    std::size_t parked_ = 0; // attempts that wait in the backend's queue
    wait_queues queues_;
    slot_map<lease_slot> leases_;
    timer_queue wait_ends_, queue_retries_, lease_wakes_;
    std::vector<claim_id> due_renewals_;
    ring<effect> effects_;

    std::size_t active_ = 0; // attempts under way and leases held
    std::size_t held_ = 0;
    bool closing_ = false, wound_up_ = false, closed_ = false;
    time_point close_at_ = never;
    std::size_t left_to_clean_ = 0, left_to_send_ = 0; // when `close_at_` was set
    time_point heard_ = long_ago;                      // see wake()
    locker_stats counts_;
};

} // namespace holdfast::core
