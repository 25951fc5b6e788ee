#pragma once

#include "core/backend.hpp"
#include "core/claim_slot.hpp"
#include "core/contest.hpp"
#include "core/held_leases.hpp"
#include "core/lingering_leases.hpp"
#include "core/report.hpp"
#include "core/resting_claims.hpp"
#include "core/wait_queues.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::core {

// The holders of leases: gives a lease to a wait, does what is due for it, and passes it to the
// next wait of this process, keeps it for one to come, or gives it back.
class holders {
public:
    // All of these outlive it.
    holders(backend_core& backend, claim_slots& slots, wait_queues& queues, contest& waits,
        report& outcomes) noexcept;

    const held_leases& leases() const noexcept { return leases_; }

    // Gives the lease to the first wait of its queue.
    void install(
        slot_id lease, const validity& granted, std::optional<std::uint64_t> fence, time_point now);

    // As for the locker core. False if there was nothing to release.
    bool release(slot_id lease, std::uint64_t tag, time_point now);
    bool drop(slot_id lease, time_point now);
    // A new wait: if the lease of its resource lingers, it gets this lease, or the lease is given
    // back. False if there is none.
    bool resume(slot_id wait, time_point now);
    void settle(slot_id lease, time_point now);
    errc extend(slot_id lease, time_point now);

    // The events of a granted claim.
    void confirmed(slot_id lease, const validity& to, time_point now);
    void lost(slot_id lease, bool keys_left, time_point now);
    void released(slot_id lease, release_outcome outcome);
    void nobody_waits(slot_id lease) noexcept;
    void others_wait(slot_id lease, time_point now);

    // All holders must stop: each lease ends a guard time later at the latest.
    void stop(time_point now);
    // The locker closes: claims that rest are left to their ttl.
    void close();
    // The locker has ended: what the backend has not answered is unconfirmed.
    void end_releases();
    // Does what is due, for all leases and for claims that rest.
    void service_due(time_point now);
    time_point wake_at() const noexcept
    {
        return std::min({leases_.wake_at(), lingering_.wake_at(), resting_.wake_at()});
    }

    std::size_t lingering() const noexcept { return lingering_.count(); }
    // No more leases are granted: none lingers from now on.
    void end_lingering(time_point now);

private:
    bool goes_on(slot_id lease, time_point now);
    bool hand_over(slot_id lease, time_point now);
    bool linger(slot_id lease, time_point now);
    void stop_lingering(slot_id lease, time_point now);
    void renew(claim_id claim, bool extends, time_point now);
    void ask_again_for_waiters(claim_id claim, time_point now);
    void service_lingering(time_point now);
    void take_from_holder(slot_id lease);
    void give_back(slot_id lease, time_point now);
    bool service(slot_id lease, time_point now);
    // `gone`: the backend has reported that the claim is lost.
    void lose(slot_id lease, bool gone, time_point now);
    bool rest(slot_id lease, time_point now);
    void begin_rest(slot_id lease);
    void end_rest(const resting_claims::rest& over, time_point now);
    void note_release(slot_id lease, time_point now);

    backend_core& backend_;
    claim_slots& slots_;
    wait_queues& queues_;
    contest& waits_;
    report& report_;
    held_leases leases_;
    lingering_leases lingering_;
    resting_claims resting_;
    std::vector<claim_id> due_renewals_;
    bool closes_ = false;
    bool lets_linger_ = true; // until end_lingering()
};

} // namespace holdfast::core
