#pragma once

#include "core/time.hpp"
#include "core/validity.hpp"

#include <holdfast/error.hpp>
#include <holdfast/release_outcome.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::core {

// A claim: first an attempt, then possibly the lease that comes of it, then the clean-up.
using claim_id = std::uint64_t;

// Whether an attempt may wait for its turn in a queue that the backend keeps between processes. A
// backend without one answers all attempts at once.
enum class queueing : std::uint8_t {
    none,
    if_contended, // only if the backend already knows that others want the resource
    now,          // at once: others have their turn first
};

// Windows for clients that poll instead of waiting in a queue. A resource that is never free
// otherwise stays free for a window, about once in a period. Window 0: no windows.
struct polling_params {
    std::uint32_t window_ms = 0, period_ms = 0;

    duration window() const noexcept { return std::chrono::milliseconds(window_ms); }
    duration period() const noexcept { return std::chrono::milliseconds(period_ms); }
};

struct claim_params {
    duration ttl{};
    duration drift{}; // subtracted from every validity
    duration guard{}; // a grant with less than this left is `too_late`
    queueing queue = queueing::none;
    bool lingers = false;   // the lease may stay with the locker without a holder
    bool whole_ttl = false; // the lease begins with one ttl: it may end without a renewal
    polling_params polling{};
};

// What a backend reports to the locker core. `tag` is the one that the claim was given.
enum class event_kind : std::uint8_t {
    granted,           // answers attempt(): `asked`, `valid`, `fence`
    refused,           // answers attempt(): `asked`, `reason`; the backend cleans up the claim
    queued,            // an attempt waits for its turn, at almost no cost
    validity,          // the validity of a granted claim has changed: `valid`
    lost,              // a granted claim is lost, regardless of its validity
    released,          // answers release(): `outcome`
    no_remote_waiters, // answers probe_waiters(): no other process waits for the resource
    remote_waiters,    // after report_waiters(): other processes wait for the resource
    free_hint,         // answers watch(): the resource may be free from `free_at` on, or `reason`
};

struct backend_event {
    event_kind kind{};
    release_outcome outcome{};
    errc reason{};
    std::uint64_t tag = 0;
    validity valid{};
    time_point free_at{};
    bool transient = false; // the cause of `reason` passes with time
    // When the requests of an attempt were sent, or its turn in a queue came. A refused attempt has
    // kept others out since then; `never`: unknown. Granted: `never` if `valid` says it.
    time_point asked = never;
    std::optional<std::uint64_t> fence{};
    bool keys_left = false; // of a lost claim: too few for a lease, but they keep others out, and
                            // no operator has taken it away
};

} // namespace holdfast::core
