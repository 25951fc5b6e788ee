#pragma once

#include "core/backend.hpp"
#include "sql/exchange.hpp"
#include "sql/look_schedule.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::sql {

// An attempt, then perhaps a lease, then what is left of them in the table.
struct claim {
    enum class stage : std::uint8_t {
        asking,  // it wants the resource, and has neither that nor a place in the queue
        waiting, // it has a place in the queue
        held,
        leaving, // what it has is to be given back
    };

    stage now = stage::asking;
    std::string resource{}, owner{};
    core::claim_params terms{};
    std::uint64_t tag = 0;
    std::optional<action> listed{};      // the statement in which it is to be next
    core::time_point began{};            // asking, leaving: since then
    core::time_point sent = core::never; // its last want or renew; `never`: none was sent
    core::time_point confirmed{};        // when the last want was sent that gave it its place
    core::time_point refresh_at{};       // waiting: its place must be renewed
    core::time_point late_until = core::long_ago; // an unanswered want may be executed until then
    core::time_point due = core::never;           // of its timer
    token_block tokens{};
    unsigned removals = 0;   // statements to give it back
    unsigned locked = 0;     // statements in a row that found its row locked
    bool parked = false;     // told that it waits in the queue
    bool unanswered = false; // release() was called, and not yet answered
    bool others_wait = false, reports_others = false; // held: others wait; that is to be reported
    // held: when a renewal was asked for that has no answer yet, or `never`
    core::time_point renewal_wanted = core::never;
    bool only_looks = false; // held: else it is to see whether others wait
    place in_queue{};        // waiting

    action next() const noexcept
    {
        switch (now) {
        case stage::held:
            return only_looks && renewal_wanted == core::never ? action::watch : action::renew;
        case stage::leaving:
            return action::give_back;
        default:
            return action::want;
        }
    }
    // Waiters tell it that they wait.
    bool is_watching() const noexcept { return owner.ends_with(watching); }
    // What the holder may rely on, after a statement that was sent then.
    core::validity valid_since(core::time_point asked) const noexcept
    {
        return {.asked = asked, .ttl = terms.ttl, .until = asked + terms.ttl - terms.drift};
    }
};

} // namespace holdfast::sql
