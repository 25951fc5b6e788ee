#pragma once

#include "core/backend.hpp"
#include "core/claim_slot.hpp"
#include "core/contest.hpp"
#include "core/held_leases.hpp"
#include "core/report.hpp"
#include "core/resting_claims.hpp"
#include "core/wait_queues.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::core {

// The holders of leases: gives a lease to a wait, does what is due for it, and passes it to the
// next wait of this process, or gives it back.
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
    struct extension {
        errc reason{}; // none if it is under way
        bool asked = false;
    };
    extension extend(slot_id lease, time_point now);

    // The events of a granted claim.
    void confirmed(slot_id lease, const validity& to, time_point now);
    void lost(slot_id lease, time_point now);
    void released(slot_id lease, release_outcome outcome);
    void nobody_waits(slot_id lease) noexcept;

    // All holders must stop: each lease ends a guard time later at the latest.
    void stop(time_point now);
    // The locker closes: claims that rest are left to their ttl.
    void close();
    // Does what is due, for all leases and for claims that rest.
    void service_due(time_point now);
    time_point wake_at() const noexcept { return std::min(leases_.wake_at(), resting_.wake_at()); }

private:
    bool hand_over(slot_id lease, time_point now);
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
    resting_claims resting_;
    std::vector<claim_id> due_renewals_;
    bool closes_ = false;
};

} // namespace holdfast::core
