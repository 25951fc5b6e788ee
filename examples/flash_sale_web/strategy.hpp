#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace flash_sale_web {

/// How a server of the shop takes one item from the stock.
enum class strategy : std::uint8_t { none, lock, hold, fenced, batch, for_update, atomic, redis };

struct strategy_text {
    strategy is;
    std::string_view name;      ///< in messages between processes
    std::string_view title;     ///< for people
    std::string_view guarantee; ///< what it promises, and what it does not
    bool never_oversells;       ///< whether that is among its promises
};

inline constexpr std::array<strategy_text, 8> all_strategies{{
    {strategy::none, "none", "No lock",
        "Nothing: two servers that read the same stock sell the same item. It only shows what the "
        "others prevent.",
        false},
    {strategy::lock, "lock", "A lock for each order",
        "One server at a time, while leases last. A server that is frozen past its lease can still "
        "write: use it where two holders at once waste work, not where they do harm.",
        false},
    {strategy::hold, "hold", "hold()",
        "As above, and the work is cancelled before its lease ends. A frozen process cannot be "
        "cancelled, so the same limit holds.",
        false},
    {strategy::fenced, "fenced", "A fenced lock",
        "The row remembers the largest token and refuses a late write, so a frozen server cannot "
        "oversell. Others go on when its lease ends. Right if the work between read and write "
        "spans other systems.",
        true},
    {strategy::batch, "batch", "Batches, fenced",
        "As the fenced lock, for many orders at once: a server gathers its orders, and serves them "
        "under one lease, in one transaction. The work between read and write is done once for all "
        "of them. Right for one hot item, if the work needs a lock at all.",
        true},
    {strategy::for_update, "for_update", "SELECT FOR UPDATE",
        "No overselling: the database locks the row. No other service is needed, but a connection "
        "is occupied for each waiter, and a frozen server stops all others until the database ends "
        "its transaction.",
        true},
    {strategy::atomic, "atomic", "UPDATE … WHERE stock > 0",
        "No overselling, no lock, nothing to expire. If one statement can do the work, as here, "
        "this is the right tool, and a lock is the wrong one.",
        true},
    {strategy::redis, "redis", "A Lua script in Redis",
        "The count never goes below zero while that one server lives. What it has not saved is "
        "lost when it crashes, and the order in the database is a second step that can fail.",
        true},
}};

constexpr const strategy_text& text_of(strategy which)
{
    return all_strategies[static_cast<std::size_t>(which)];
}

constexpr std::optional<strategy> strategy_named(std::string_view name)
{
    for (const strategy_text& each : all_strategies) {
        if (each.name == name)
            return each.is;
    }
    return std::nullopt;
}

} // namespace flash_sale_web
