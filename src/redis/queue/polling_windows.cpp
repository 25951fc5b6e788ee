#include "redis/queue/polling_windows.hpp"

#include "redis/queue/make_room.hpp"

namespace holdfast::redis {

using core::time_point;
using namespace std::chrono_literals;

namespace {

// A free resource counts as contended again if clients wait for it again within this time. Between
// a release and the next attempt it is free for an instant, which is of no use to polling clients.
constexpr core::duration longest_gap = 1s;

// If another process has opened the last window, this one asks again this many times in a period.
constexpr int asks_in_period = 8;

} // namespace

polling_windows::memory& polling_windows::at(std::uint64_t resource_hash, time_point now)
{
    if (!known_.contains(resource_hash))
        make_room(known_, [now](const memory& m) {
            return m.contended_last + longest_gap <= now && m.ask_at <= now;
        });
    return known_[resource_hash];
}

void polling_windows::note_contention(std::uint64_t resource_hash, time_point now)
{
    memory& m = at(resource_hash, now);
    if (!m.contended_since || (m.was_free && now - m.contended_last >= longest_gap))
        m.contended_since = now;
    m.contended_last = now;
    m.was_free = false;
}

void polling_windows::note_free(std::uint64_t resource_hash) noexcept
{
    if (known_.empty())
        return;
    const auto found = known_.find(resource_hash);
    if (found != known_.end())
        found->second.was_free = true;
}

bool polling_windows::is_due(std::uint64_t resource_hash, const core::polling_params& terms,
    bool by_turns, time_point now) const noexcept
{
    if (terms.window_ms == 0)
        return false;
    const auto found = known_.find(resource_hash);
    if (found == known_.end())
        return by_turns;
    const memory& m = found->second;
    if (now < m.ask_at)
        return false;
    const bool contended = m.contended_since && now - *m.contended_since >= terms.period() &&
                           !(m.was_free && now - m.contended_last >= longest_gap);
    return by_turns || contended;
}

void polling_windows::opened(
    std::uint64_t resource_hash, const core::polling_params& terms, time_point now)
{
    at(resource_hash, now).ask_at = now + terms.period();
}

void polling_windows::refused(
    std::uint64_t resource_hash, const core::polling_params& terms, time_point now)
{
    at(resource_hash, now).ask_at = now + terms.period() / asks_in_period;
}

} // namespace holdfast::redis
