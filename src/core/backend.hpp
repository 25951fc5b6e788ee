#pragma once

#include "core/connection.hpp"
#include "core/owner_token.hpp"
#include "core/time.hpp"

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

// A grant that was asked for: an attempt at first, then perhaps a lease, then something to clean
// up.
using claim_id = std::uint64_t;

// Whether an attempt may wait for its turn in a queue that the backend keeps between processes. A
// backend without one answers all attempts at once.
enum class queueing : std::uint8_t {
    none,
    if_contended, // only if the backend knows already that others want the resource
    now,          // others have their turn first
};

// What clients that do not wait in a queue, but poll, are left of a resource that is never free
// otherwise: it stays free for a window, about once in a period. No window: nothing.
struct polling_params {
    std::uint32_t window_ms = 0, period_ms = 0;

    duration window() const noexcept { return std::chrono::milliseconds(window_ms); }
    duration period() const noexcept { return std::chrono::milliseconds(period_ms); }
};

struct claim_params {
    duration ttl{};
    duration drift{}; // taken off every validity
    duration guard{}; // a grant with less than this left is `too_late`
    queueing queue = queueing::none;
    bool others_follow = false; // in this process: they want to be passed what is granted
    polling_params polling{};
};

// What a backend tells the locker core, about the claim whose `tag` it was given.
enum class event_kind : std::uint8_t {
    granted,  // answers attempt(): `asked`, `valid_until`, `fence`
    refused,  // answers attempt(): `asked`, `reason`; the claim is the backend's to clean up
    queued,   // of an attempt: it waits for its turn, and costs next to nothing meanwhile
    validity, // of a granted claim has changed: `valid_until`
    lost,     // a granted claim is not ours any more, whatever its validity was
    released, // answers release(): `outcome`
    no_remote_waiters, // answers probe_waiters(): nobody else waits for it
    free_hint, // answers watch(): the resource may be free from `valid_until` on, or `reason`
};

struct backend_event {
    event_kind kind{};
    release_outcome outcome{};
    errc reason{};
    std::uint64_t tag = 0;
    time_point valid_until{};
    bool transient = false;   // `reason` mends itself with time, whatever it is
    time_point asked = never; // when the requests left to which this is the answer; since then a
                              // refused attempt has kept others out; `never`: not told
    std::optional<std::uint64_t> fence{};
};

// The seam between the locker core and a store of locks. Pure: no I/O, no clock, no thread. Every
// call may make events, which are fetched afterwards, so nobody is called back in the middle.
class backend_core {
public:
    virtual ~backend_core() = default;

    // Asks for the resource, once. Ends in `granted` or `refused` in bounded time, unless it waits
    // for its turn or is abandoned.
    virtual claim_id attempt(std::uint64_t tag, std::string_view resource, const owner_token& token,
        const claim_params& terms, time_point now) = 0;

    // Gives up an attempt that has not ended; whatever was granted is given back. No event follows.
    virtual void abandon(claim_id claim, time_point now) = 0;
    // What an attempt that has not ended would have failed with if it were given up now.
    virtual errc pending_error(claim_id claim) const noexcept = 0;

    // Whether there is a queue to wait in now.
    virtual bool queues() const noexcept = 0;

    // Whether a granted claim can have a new holder: its tokens may be used up.
    virtual bool can_transfer(claim_id) const noexcept { return true; }
    // The lease of a granted claim has a new holder in this process: its events have this tag from
    // now on. Returns the new holder's fencing token, if the claim has one: larger than the old
    // one. Precondition: can_transfer().
    virtual std::optional<std::uint64_t> transfer(claim_id claim, std::uint64_t tag) = 0;

    // Renews granted claims. What comes of it is told as `validity` and `lost`; silence is not
    // told. `again`: even where an earlier renewal is still unanswered.
    virtual void renew(std::span<const claim_id> claims, bool again, time_point now) = 0;

    // Finds out whether other processes wait for what a claim holds. `alone` may follow: a hint.
    virtual void probe_waiters(claim_id claim, time_point now) = 0;
    // Whether an answer to that is still to come.
    virtual bool probing_waiters(claim_id claim) const noexcept = 0;

    // The release of a granted claim, which follows, ends turns that have lasted so long that
    // clients which poll are due a window. A backend without a queue leaves that to the locker.
    virtual void leave_open(claim_id) {}
    // Gives a granted claim back. `released` follows in bounded time; the claim is the backend's.
    virtual void release(claim_id claim, time_point now) = 0;

    // Finds out when somebody else's holding of the resource must end. `frees` may follow: a hint.
    virtual void watch(std::uint64_t tag, std::string_view resource, time_point now) = 0;

    // How long an answer to one request may take under this ttl.
    virtual duration patience(duration ttl) const noexcept = 0;
    // No claim may have a longer ttl.
    virtual duration longest_ttl() const noexcept { return duration::max(); }

    virtual std::optional<backend_event> next_event() = 0;
    virtual time_point wake_at() const noexcept = 0;
    // `heard`: all that had arrived from the store by then has been given to its connections. No
    // answer is judged to be late that may have arrived and not been read yet.
    virtual void wake(time_point now, time_point heard) = 0;
    void wake(time_point now) { wake(now, now); }

    // What the shell has to serve; the same objects for the life of the backend.
    virtual std::span<connection* const> connections() noexcept = 0;

    // How many deletions are under way. It gets smaller as long as they are answered.
    virtual std::size_t cleaning_up() const noexcept = 0;
    bool drained() const noexcept { return cleaning_up() == 0; }
    // Bytes that wait for their connection to take them.
    std::size_t unsent() noexcept
    {
        std::size_t all = 0;
        for (const connection* const c : connections())
            all += c->output().size();
        return all;
    }
    // Lets all connections go, for good.
    virtual void close(time_point now) = 0;

    virtual std::vector<node_stats> nodes() const = 0;
};

// Makes the core of a backend for one locker.
class backend_factory {
public:
    virtual ~backend_factory() = default;
    virtual std::unique_ptr<backend_core> make(std::uint64_t jitter_seed) const = 0;
};

} // namespace holdfast::core
