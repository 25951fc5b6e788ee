#include "redis/token_supply.hpp"

#include "redis/fence_scripts.hpp"

#include <algorithm>

namespace holdfast::redis {

namespace {

// If the tokens are further ahead of the clock than this, only single tokens are taken. Single
// tokens do not get ahead: that would take a million grants a second of one resource.
constexpr std::int64_t furthest_ms = 16;

// If no other waiters follow: some may arrive while the lock is held.
constexpr std::uint64_t usual_block = 64;

std::uint64_t first_of(std::int64_t ms)
{
    return static_cast<std::uint64_t>(ms) * tokens_in_ms;
}

} // namespace

void token_supply::published(std::uint64_t resource, std::uint64_t last) noexcept
{
    entry& e = entries_[resource % size];
    if (e.resource == resource || e.last < last)
        e = {resource, std::max(last, e.resource == resource ? e.last : 0)};
}

std::uint64_t token_supply::last_of(std::uint64_t resource) const noexcept
{
    const entry& e = entries_[resource % size];
    return e.resource == resource ? e.last : 0;
}

std::uint64_t token_supply::floor(std::uint64_t resource, std::int64_t clock) const noexcept
{
    const std::uint64_t last = last_of(resource);
    return std::max(first_of(clock), last == 0 ? 0 : last + 1);
}

std::uint64_t token_supply::block(
    std::uint64_t resource, std::int64_t clock, bool others_follow) const noexcept
{
    const std::uint64_t from = last_of(resource) + 1, end = first_of(clock + furthest_ms);
    if (from >= end)
        return 1;
    return std::clamp<std::uint64_t>(
        (end - from) / std::uint64_t{furthest_ms}, 1, others_follow ? largest_block : usual_block);
}

} // namespace holdfast::redis
