#include "redis/dialect/token_supply.hpp"

#include "redis/node/fence_scripts.hpp"

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
    note({.resource = resource, .published = last, .stored = last});
}

void token_supply::stored(std::uint64_t resource, std::uint64_t last) noexcept
{
    note({.resource = resource, .stored = last});
}

void token_supply::note(const entry& now_known) noexcept
{
    entry& e = entries_[now_known.resource % size];
    if (e.resource != now_known.resource) {
        if (e.stored < now_known.stored)
            e = now_known;
        return;
    }
    e.published = std::max(e.published, now_known.published);
    e.stored = std::max(e.stored, now_known.stored);
}

token_supply::entry token_supply::known_of(std::uint64_t resource) const noexcept
{
    const entry& e = entries_[resource % size];
    return e.resource == resource ? e : entry{};
}

std::uint64_t token_supply::floor(std::uint64_t resource, std::int64_t clock) const noexcept
{
    const std::uint64_t last = known_of(resource).published;
    return std::max(first_of(clock), last == 0 ? 0 : last + 1);
}

std::uint64_t token_supply::block(
    std::uint64_t resource, std::int64_t clock, bool others_follow) const noexcept
{
    const std::uint64_t from = known_of(resource).stored + 1, end = first_of(clock + furthest_ms);
    if (from >= end)
        return 1;
    return std::clamp<std::uint64_t>(
        (end - from) / std::uint64_t{furthest_ms}, 1, others_follow ? largest_block : usual_block);
}

} // namespace holdfast::redis
