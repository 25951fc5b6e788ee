#include "redis/queue/contention_hints.hpp"

#include "redis/queue/make_room.hpp"

#include <utility>

namespace holdfast::redis {

namespace {

// A client that contends again does so soon.
constexpr core::duration remembered_for = std::chrono::seconds(1);
constexpr core::duration come_back_in = std::chrono::milliseconds(10); // or they do not contend

} // namespace

void contention_hints::note(std::uint64_t resource_hash, core::time_point now)
{
    if (!known_.contains(resource_hash))
        make_room(
            known_, [now](const memory& m) { return !m.seen || now - *m.seen >= remembered_for; });
    known_[resource_hash].seen = now;
}

void contention_hints::note_turn(std::uint64_t resource_hash, core::time_point now)
{
    note(resource_hash, now);
    known_[resource_hash].state = queue::works;
}

void contention_hints::note_doubt(std::uint64_t resource_hash, core::time_point now)
{
    note(resource_hash, now);
    known_[resource_hash].state = queue::doubtful;
}

void contention_hints::note_fruitless(std::uint64_t resource_hash, core::time_point now)
{
    note(resource_hash, now);
    known_[resource_hash].fruitless = true;
}

bool contention_hints::take_fruitless(std::uint64_t resource_hash) noexcept
{
    const auto found = known_.find(resource_hash);
    return found != known_.end() && std::exchange(found->second.fruitless, false);
}

void contention_hints::note_free(std::uint64_t resource_hash, core::time_point now) noexcept
{
    const auto found = known_.find(resource_hash);
    if (found != known_.end() && (!found->second.seen || now - *found->second.seen > come_back_in))
        forget(resource_hash);
}

void contention_hints::forget(std::uint64_t resource_hash) noexcept
{
    const auto found = known_.find(resource_hash);
    if (found == known_.end())
        return;
    if (found->second.fruitless)
        found->second = {.fruitless = true};
    else
        known_.erase(found);
}

const contention_hints::memory* contention_hints::recent(
    std::uint64_t resource_hash, core::time_point now) const noexcept
{
    if (known_.empty())
        return nullptr;
    const auto found = known_.find(resource_hash);
    const bool counts =
        found != known_.end() && found->second.seen && now - *found->second.seen < remembered_for;
    return counts ? &found->second : nullptr;
}

bool contention_hints::knows(std::uint64_t resource_hash, core::time_point now) const noexcept
{
    return recent(resource_hash, now) != nullptr;
}

bool contention_hints::knows_turns(std::uint64_t resource_hash, core::time_point now) const noexcept
{
    const memory* const m = recent(resource_hash, now);
    return m != nullptr && m->state == queue::works;
}

bool contention_hints::doubts(std::uint64_t resource_hash, core::time_point now) const noexcept
{
    const memory* const m = recent(resource_hash, now);
    return m != nullptr && m->state == queue::doubtful;
}

} // namespace holdfast::redis
