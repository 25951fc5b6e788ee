#pragma once

#include "core/connection.hpp"
#include "core/descriptor.hpp"
#include "core/owner_token.hpp"
#include "core/time.hpp"
#include "core/validity.hpp"

#include <holdfast/error.hpp>
#include <holdfast/release_outcome.hpp>
#include <holdfast/stats.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

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
    bool others_follow = false; // waiters in this process expect a transfer of the lease
    polling_params polling{};
};

// What a backend reports to the locker core. `tag` is the one that the claim was given.
enum class event_kind : std::uint8_t {
    granted,           // answers attempt(): `valid`, `fence`
    refused,           // answers attempt(): `asked`, `reason`; the backend cleans up the claim
    queued,            // an attempt waits for its turn, at almost no cost
    validity,          // the validity of a granted claim has changed: `valid`
    lost,              // a granted claim is lost, regardless of its validity
    released,          // answers release(): `outcome`
    no_remote_waiters, // answers probe_waiters(): no other process waits for the resource
    free_hint,         // answers watch(): the resource may be free from `free_at` on, or `reason`
};

struct backend_event {
    event_kind kind{};
    release_outcome outcome{};
    errc reason{};
    std::uint64_t tag = 0;
    validity valid{};
    time_point free_at{};
    bool transient = false;   // the cause of `reason` passes with time
    time_point asked = never; // when the requests of a refused attempt were sent: it has kept
                              // others out since then; `never`: unknown
    std::optional<std::uint64_t> fence{};
};

// The interface between the locker core and a store of locks. Pure: no I/O, no clock, no thread.
// Every call may create events. They are fetched afterwards, so there are no callbacks. What a
// store may lack has a default.
class backend_core {
public:
    virtual ~backend_core() = default;

    // Makes one attempt to get the resource. Ends in `granted` or `refused` in bounded time, unless
    // it waits for its turn or is abandoned.
    virtual claim_id attempt(std::uint64_t tag, std::string_view resource, const owner_token& token,
        const claim_params& terms, time_point now) = 0;

    // Gives up an attempt that has not ended. All grants are given back. No event follows.
    virtual void abandon(claim_id claim, time_point now) = 0;
    // The error of an attempt that has not ended, if it were given up now.
    virtual errc pending_error(claim_id claim) const noexcept = 0;

    // Whether there is a queue to wait in now.
    virtual bool queues() const noexcept { return false; }

    // Whether a granted claim can have a new holder: its tokens may be used up.
    virtual bool can_transfer(claim_id) const noexcept { return true; }
    // The lease of a granted claim has a new holder in this process: its events have this tag from
    // now on. Returns the new holder's fencing token, if the claim has one: larger than the old
    // one. Precondition: can_transfer().
    virtual std::optional<std::uint64_t> transfer(claim_id claim, std::uint64_t tag) = 0;

    // Whether the backend renews granted claims by itself, as a session does. Then renew() is
    // called for extend() only, with `again`.
    virtual bool renews_itself() const noexcept { return false; }
    // Renews granted claims. The results are reported as `validity` and `lost`; missing answers are
    // not reported. `again`: even where an earlier renewal is still unanswered.
    virtual void renew(std::span<const claim_id> claims, bool again, time_point now) = 0;

    // Finds out whether other processes wait for the resource of a claim. `no_remote_waiters` may
    // follow: a hint.
    virtual void probe_waiters(claim_id, time_point) {}
    // Whether the answer to a probe is still to come.
    virtual bool probing_waiters(claim_id) const noexcept { return false; }

    // To be called before the release of a granted claim. The turns have lasted so long that
    // polling clients are due a window. A backend without a queue leaves that to the locker.
    virtual void leave_open(claim_id) {}
    // Releases a granted claim, which the backend then cleans up. `released` follows in bounded
    // time.
    virtual void release(claim_id claim, time_point now) = 0;

    // Finds out when another holder's lease on the resource must end. `free_hint` may follow.
    virtual void watch(std::uint64_t /*tag*/, std::string_view /*resource*/, time_point /*now*/) {}

    // How long an answer to one request may take under this ttl.
    virtual duration patience(duration ttl) const noexcept = 0;
    // No claim may have a longer ttl.
    virtual duration longest_ttl() const noexcept { return duration::max(); }

    virtual std::optional<backend_event> next_event() = 0;
    virtual time_point wake_at() const noexcept = 0;
    // `heard`: all bytes that had arrived from the store by then have been given to the
    // connections. An answer does not count as late if it may have arrived but was not read yet.
    virtual void wake(time_point now, time_point heard) = 0;
    void wake(time_point now) { wake(now, now); }

    // The connections that the I/O layer serves; the same objects for the life of the backend.
    virtual std::span<connection* const> connections() noexcept { return {}; }
    // The same for client libraries that own their socket.
    virtual std::span<descriptor* const> descriptors() noexcept { return {}; }

    // The locker is closing and has nothing any more: no attempt and no lease. Releases
    // may still be under way.
    // To be called once, before close(). What is kept for later claims, as a session, is given
    // back.
    virtual void wind_up(time_point) {}
    // How many deletions, or other requests of this kind, are under way. The number falls as long
    // as they are answered.
    virtual std::size_t cleaning_up() const noexcept { return 0; }
    bool drained() const noexcept { return cleaning_up() == 0; }
    // Bytes that wait for their connection to take them.
    std::size_t unsent() noexcept
    {
        std::size_t all = 0;
        for (const connection* const c : connections())
            all += c->unsent();
        return all;
    }
    // Closes all connections for good.
    virtual void close(time_point now) = 0;

    virtual std::vector<node_stats> nodes() const = 0;
};

// Creates the core of a backend for one locker.
class backend_factory {
public:
    virtual ~backend_factory() = default;
    virtual std::unique_ptr<backend_core> make(std::uint64_t jitter_seed) const = 0;
};

} // namespace holdfast::core
