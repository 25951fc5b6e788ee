#include "core/locker_core.hpp"

#include <algorithm>

namespace holdfast::core {

namespace {

// Few attempts are made while results wait for longer than this for their handlers.
constexpr duration longest_lag = std::chrono::milliseconds(50);

} // namespace

locker_core::locker_core(backend_core& backend, entropy& random, const locker_options& options,
    std::uint64_t jitter_seed)
    : backend_(backend),
      report_(options),
      tokens_(random, backend.inspection()),
      contest_(backend, tokens_, slots_, queues_, report_, options, jitter_seed),
      holders_(backend, slots_, queues_, contest_, report_)
{
    if (notes().wants(event_level::error) || notes().traces())
        backend_.nodes().report_to(notes());
}

slot_id locker_core::acquire(std::uint64_t tag, std::string_view resource,
    const lease_params& terms, std::chrono::milliseconds wait, bool once, time_point now)
{
    const slot_id added = contest_.acquire(tag, resource, terms, wait, once, now);
    if (added == 0)
        return 0;
    absorb(now); // the lease may have ended unnoticed while it lingers
    if (holders_.resume(added, now))
        absorb(now);
    return added;
}

bool locker_core::cancel(slot_id wait, bool only_if_unsent, time_point now)
{
    if (!contest_.cancel(wait, only_if_unsent, now))
        return false;
    absorb(now);
    return true;
}

bool locker_core::release(slot_id lease, std::uint64_t tag, time_point now)
{
    absorb(now); // the lease may have ended unnoticed
    if (!holders_.release(lease, tag, now))
        return false;
    absorb(now);
    return true;
}

bool locker_core::drop(slot_id lease, time_point now)
{
    if (slots_.find(lease) == nullptr)
        return false;
    absorb(now);
    if (holders_.drop(lease, now))
        absorb(now);
    return true;
}

void locker_core::settle(slot_id lease, time_point now)
{
    absorb(now);
    holders_.settle(lease, now);
    absorb(now);
}

errc locker_core::extend(slot_id lease, time_point now)
{
    settle(lease, now);
    const errc reason = holders_.extend(lease, now);
    absorb(now);
    return reason;
}

void locker_core::drain(std::chrono::milliseconds limit, time_point now)
{
    stop_granting(now);
    closing_.drain(later(now, limit));
    if (closing_.stops_holders(now))
        holders_.stop(now);
    absorb(now);
}

void locker_core::close(time_point now)
{
    if (closing_.begun())
        return;
    stop_granting(now);
    closing_.begin();
    holders_.close();
    holders_.stop(now);
    absorb(now);
}

bool locker_core::note_lag(duration lag) noexcept
{
    const bool late = lag > longest_lag;
    contest_.hold_back(late);
    return late;
}

void locker_core::wake(time_point now, time_point heard)
{
    heard = std::min(now, heard);
    closing_.note_heard(heard);
    if (backend_.wake_at() <= now)
        backend_.wake(now, heard);
    absorb(now);
    bool acted = contest_.end_due(now);
    if (closing_.stops_holders(now)) {
        holders_.stop(now);
        acted = true;
    }
    if (holders_.wake_at() <= now) {
        holders_.service_due(now);
        acted = true;
    }
    if (acted)
        absorb(now);

    // Last, when it is known which waits remain.
    while (contest_.try_due(now))
        absorb(now);
}

time_point locker_core::wake_at() const noexcept
{
    if (closing_.done())
        return never; // keys left on nodes end by their ttl
    return std::min(
        {backend_.wake_at(), contest_.wake_at(), holders_.wake_at(), closing_.wake_at()});
}

void locker_core::add_to(locker_stats& stats) const
{
    stats = report_.counts();
    stats.held = leases().count();
    stats.lingering = holders_.lingering();
    contest_.add_to(stats);
    if (closing_.done())
        stats.asking = 0; // attempts that were given up have no answers to wait for any more
    stats.nodes = backend_.nodes().stats();
    stats.store = backend_.about().name;
    stats.guarantee = backend_.about().promise;
}

// Releases and renewals go before new attempts.
void locker_core::absorb(time_point now)
{
    do {
        while (const auto event = backend_.next_event())
            handle(*event, now);
    } while (contest_.admit_next(now));

    if (closing_.drains() && leases().count() == 0)
        end_without_leases(now);
}

void locker_core::end_without_leases(time_point now)
{
    if (closing_.ends_draining())
        report_.drained();
    if (!closing_.begun() || closing_.done())
        return;
    if (closing_.winds_up())
        backend_.cleanup().wind_up(now);
    if (closing_.ends(backend_.cleanup().under_way(), backend_.unsent(), now)) {
        backend_.close(now);
        while (const auto event = backend_.next_event())
            handle(*event, now);
        holders_.end_releases();
        report_.closed();
    }
}

void locker_core::handle(const backend_event& event, time_point now)
{
    switch (event.kind) {
    case event_kind::granted:
        contest_.granted(event, now);
        holders_.install(event.tag, event.valid, event.fence, now);
        break;
    case event_kind::refused:
        contest_.refused(event, now);
        break;
    case event_kind::queued:
        contest_.parked(event.tag);
        notes().queued(event.tag, now);
        break;
    case event_kind::validity:
        holders_.confirmed(event.tag, event.valid, now);
        break;
    case event_kind::lost:
        holders_.lost(event.tag, event.keys_left, now);
        break;
    case event_kind::released:
        holders_.released(event.tag, event.outcome);
        break;
    case event_kind::no_remote_waiters:
        holders_.nobody_waits(event.tag);
        break;
    case event_kind::remote_waiters:
        holders_.others_wait(event.tag, now);
        break;
    case event_kind::free_hint:
        contest_.hinted(event, now);
        break;
    }
}

void locker_core::stop_granting(time_point now)
{
    if (closing_.drains())
        return;
    notes().note({.kind = event::type::closing, .level = event_level::info}, now);
    contest_.end_all(now);
    holders_.end_lingering(now);
}

} // namespace holdfast::core
