#pragma once

#include "redis/redlock_core.hpp"
#include "verification/simulation/schedule.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace holdfast::simulation {

// Forwards all calls between the library's locker and its backend unchanged. Reports each attempt,
// and records for each lease when its claim first asked the nodes: a claim may serve another waiter
// than the one it was begun for, and a lease may be transferred.
class asked_backend final : public core::backend_core {
public:
    asked_backend(redis::redlock_core& backend, std::function<nanoseconds()> true_time,
        std::function<void()> on_attempt)
        : backend_(backend),
          true_time_(std::move(true_time)),
          on_attempt_(std::move(on_attempt))
    {}

    // A true time. Precondition: the lease was granted by this backend.
    nanoseconds asked(core::slot_id lease) const { return asked_.at(claims_.at(lease)); }
    // When the requests were sent that made this claim a lease, or its turn came. Precondition: as
    // above.
    core::time_point decided(core::slot_id lease) const { return decided_.at(claims_.at(lease)); }

    core::claim_id attempt(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_params& terms,
        core::time_point now) override
    {
        on_attempt_();
        const core::claim_id id = backend_.attempt(tag, resource, token, terms, now);
        claims_[tag] = id;
        asked_[id] = true_time_();
        return id;
    }
    std::optional<std::uint64_t> transfer(core::claim_id id, std::uint64_t tag) override
    {
        claims_[tag] = id;
        return backend_.transfer(id, tag);
    }

    void abandon(core::claim_id id, core::time_point now) override { backend_.abandon(id, now); }
    errc pending_error(core::claim_id id) const noexcept override
    {
        return backend_.pending_error(id);
    }
    bool can_transfer(core::claim_id id) const noexcept override
    {
        return backend_.can_transfer(id);
    }
    void renew(std::span<const core::claim_id> claims, bool again, core::time_point now) override
    {
        backend_.renew(claims, again, now);
    }
    void release(core::claim_id id, core::time_point now) override { backend_.release(id, now); }
    void watch(std::uint64_t tag, std::string_view resource, core::time_point now) override
    {
        backend_.watch(tag, resource, now);
    }
    core::duration patience(core::duration ttl) const noexcept override
    {
        return backend_.patience(ttl);
    }
    std::optional<core::backend_event> next_event() override
    {
        const auto event = backend_.next_event();
        if (event && event->kind == core::event_kind::granted)
            decided_[claims_.at(event->tag)] =
                event->asked == core::never ? event->valid.asked : event->asked;
        return event;
    }
    core::time_point wake_at() const noexcept override { return backend_.wake_at(); }
    using backend_core::wake;
    void wake(core::time_point now, core::time_point heard) override { backend_.wake(now, heard); }
    std::span<core::connection* const> connections() noexcept override
    {
        return backend_.connections();
    }
    void close(core::time_point now) override { backend_.close(now); }
    const core::store_info& about() const noexcept override { return backend_.about(); }
    core::remote_queue& queue() noexcept override { return backend_.queue(); }
    core::store_nodes& nodes() noexcept override { return backend_.nodes(); }
    core::store_cleanup& cleanup() noexcept override { return backend_.cleanup(); }

private:
    redis::redlock_core& backend_;
    std::function<nanoseconds()> true_time_;
    std::function<void()> on_attempt_;
    std::map<std::uint64_t, core::claim_id> claims_; // of each lease
    std::map<core::claim_id, nanoseconds> asked_;
    std::map<core::claim_id, core::time_point> decided_;
};

} // namespace holdfast::simulation
