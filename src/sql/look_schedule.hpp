#pragma once

#include "core/backoff.hpp"
#include "core/time.hpp"
#include "sql/exchange.hpp"

#include <cstdint>

namespace holdfast::sql {

// A waiter's place in the queue, as its looks have found it.
struct place {
    std::int64_t ahead = row::no_place; // so many wait before it,
    core::time_point moved_at{};        // since then
    core::duration turn{};              // so long a turn before it took; 0: none has ended

    void found(std::int64_t now_ahead, core::time_point now) noexcept
    {
        if (ahead == now_ahead)
            return;
        if (ahead != row::no_place && now_ahead < ahead) {
            const core::duration last = (now - moved_at) / (ahead - now_ahead);
            turn = turn == core::duration(0) ? last : (turn + last) / 2;
        }
        ahead = now_ahead;
        moved_at = now;
    }
};

// When waiters look for their turn, and holders for waiters, where the database tells nobody. Looks
// of one locker gather in rounds, so that one statement makes many, and there are not more of them
// in a second than a server bears.
class look_schedule {
public:
    // Of all looks of a locker, on average at least so far apart: 20,000 in a second.
    static constexpr core::duration cost = std::chrono::microseconds(50);
    static constexpr core::duration round = std::chrono::milliseconds(1);

    explicit look_schedule(std::uint64_t jitter_seed) noexcept
        : jitter_(jitter_seed),
          phase_(jitter_.between(core::duration(0), round - core::duration(1)))
    {}

    // When a waiter looks again that has looked now: the later, the longer nothing has changed, the
    // more wait before it, and the longer turns take. But not after `latest`, when it has something
    // else to ask, and needs no room for a look.
    core::time_point for_turn(
        const place& at, core::time_point now, core::time_point latest = core::never) noexcept;
    // When a holder looks again for waiters.
    core::time_point for_others(core::time_point now) noexcept;

private:
    core::time_point fit(
        core::duration pause, core::time_point now, core::time_point latest) noexcept;

    core::jitter jitter_;
    const core::duration phase_;                // other lockers have other rounds
    core::time_point free_at_ = core::long_ago; // no earlier look has room
};

} // namespace holdfast::sql
