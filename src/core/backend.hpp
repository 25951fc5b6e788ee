#pragma once

#include "core/claim.hpp"
#include "core/connection.hpp"
#include "core/descriptor.hpp"
#include "core/inspection.hpp"
#include "core/owner_token.hpp"
#include "core/remote_queue.hpp"
#include "core/store_cleanup.hpp"
#include "core/store_nodes.hpp"
#include "core/time.hpp"

#include <holdfast/error.hpp>
#include <holdfast/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::core {

// What kind of store a backend uses, and what it promises. Constant.
struct store_info {
    std::string name{};
    holdfast::guarantee promise = holdfast::guarantee::unspecified;
    duration longest_ttl = duration::max(); // no claim may have a longer one
};

// The interface between the locker core and a store of locks. Pure: no I/O, no clock, no thread.
// Every call may create events. They are fetched afterwards, so there are no callbacks.
//
// A store implements the claims, the time and its connections. What only some stores have is an
// optional part with an interface of its own, and does nothing unless the store overrides it. A
// part is the same for the whole life of the backend.
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

    // Whether a granted claim can have a new holder: its tokens may be used up.
    virtual bool can_transfer(claim_id) const noexcept { return true; }
    // The lease of a granted claim has a new holder in this process: its events have this tag from
    // now on. Returns the new holder's fencing token, if the claim has one: larger than the old
    // one. Precondition: can_transfer().
    virtual std::optional<std::uint64_t> transfer(claim_id claim, std::uint64_t tag) = 0;

    // Renews granted claims. The results are reported as `validity` and `lost`; missing answers are
    // not reported. `again`: even where an earlier renewal is still unanswered.
    virtual void renew(std::span<const claim_id> claims, bool again, time_point now) = 0;

    // Releases a granted claim, which the backend then cleans up. `released` follows in bounded
    // time.
    virtual void release(claim_id claim, time_point now) = 0;

    // Finds out when another holder's lease on the resource must end. `free_hint` may follow.
    virtual void watch(std::uint64_t /*tag*/, std::string_view /*resource*/, time_point /*now*/) {}

    // How long an answer to one request may take under this ttl.
    virtual duration patience(duration ttl) const noexcept = 0;

    virtual std::optional<backend_event> next_event() = 0;
    virtual time_point wake_at() const noexcept = 0;
    // `heard`: all bytes that had arrived from the store by then have been given to the
    // connections. An answer does not count as late if it may have arrived but was not read yet.
    virtual void wake(time_point now, time_point heard) = 0;
    void wake(time_point now) { wake(now, now); }

    // The connections that the I/O layer serves. More may follow, at the end; none is removed.
    virtual std::span<connection* const> connections() noexcept { return {}; }
    // The same for client libraries that own their socket.
    virtual std::span<descriptor* const> descriptors() noexcept { return {}; }
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

    virtual const store_info& about() const noexcept = 0;

    // The optional parts.
    virtual remote_queue& queue() noexcept { return absent<remote_queue>(); }
    virtual store_nodes& nodes() noexcept { return absent<store_nodes>(); }
    virtual store_cleanup& cleanup() noexcept { return absent<store_cleanup>(); }
    // Tells people who holds a lock; null if this backend cannot.
    virtual inspector* inspection() noexcept { return nullptr; }

private:
    // One that does nothing, and so is the same for all.
    template <class Part>
    static Part& absent() noexcept
    {
        static class none final : public Part {
        } nothing;
        return nothing;
    }
};

// Creates the core of a backend for one locker.
class backend_factory {
public:
    virtual ~backend_factory() = default;
    virtual std::unique_ptr<backend_core> make(std::uint64_t jitter_seed) const = 0;
};

} // namespace holdfast::core
