#pragma once

#include "core/time.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::recipes {

using core::duration;
using core::time_point;

// What an errand wants done with one of its locks, which are numbered.
struct step {
    enum class kind : std::uint8_t {
        try_lock,         // one attempt, which begins before `until`
        wait_lock,        // an attempt that waits in the queue of the lock until `until`
        drop,             // cancels what is under way, or releases what is held
        wake,             // calls woken() at `until`; there is one such call at a time
        succeed,          // the lease of this lock is the result; all else is dropped
        succeed_with_all, // the leases of all locks are the result, together
        give_up,          // there is no result; `why` is empty if a try has found no free lock
    };
    kind what;
    std::size_t lock = 0;
    time_point until{};
    error_code why{};
};
using steps = std::vector<step>;

// What the performer of an errand knows about the leases that it keeps for it.
class lease_view {
public:
    virtual ~lease_view() = default;
    // Whether the lease of this lock is valid now, by the clock.
    virtual bool held(std::size_t lock) const = 0;
};

// One operation of a recipe: it acquires some locks, one or several at a time, until it has what it
// needs. It decides; its performer carries out the steps in their order, reports what comes of
// them, one report at a time, and drops what is left at the end. After the last step, one of
// `succeed`, `succeed_with_all` and `give_up`, there are no more reports.
class errand {
public:
    errand() = default;
    errand(const errand&) = delete;
    errand& operator=(const errand&) = delete;
    virtual ~errand() = default;

    virtual void begin(time_point now, steps& out) = 0;
    virtual void granted(
        std::size_t lock, time_point now, const lease_view& leases, steps& out) = 0;
    // `why` is empty if a try has found the lock taken.
    virtual void refused(std::size_t lock, error_code why, time_point now, steps& out) = 0;
    virtual void woken(time_point now, steps& out) = 0;
    // Once, when it has ended or was cancelled.
    virtual void end() noexcept {}
};

// How long an errand may take.
struct patience {
    bool once = false; // makes one attempt, and does not wait
    time_point until = core::never;
};

} // namespace holdfast::recipes
