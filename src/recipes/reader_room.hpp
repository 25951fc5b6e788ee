#pragma once

#include "core/time.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace holdfast::recipes {

using core::duration;
using core::time_point;

// The readers of one process. They share one slot: the first one enters, others join it.
//
// Readers join without passing the gate only for a while after one has passed it. Later ones must
// pass it again, behind writers that wait there. So readers that overlap do not keep writers out
// for ever.
class reader_room {
public:
    using reader = std::uint64_t;
    // The time for which readers share one slot lease; those of an earlier visit have lost theirs.
    using visit = std::uint64_t;

    struct step {
        enum class kind : std::uint8_t {
            admit,        // this reader is inside, in the current visit
            refuse,       // `why` is empty if a try has found the room closed
            enter,        // starts an entry, with the patience given
            cancel_entry, // no reader waits for it any more
            leave_slot,   // the last reader has left
        };
        kind what;
        reader who = 0;
        bool once = false;
        time_point until{};
        error_code why{};
    };
    using steps = std::vector<step>;

    // `slot_held`: whether the lease of the slot is valid now, by the clock. A process that was
    // paused may not have been told yet that it is lost.
    reader_room(duration open_for, std::function<bool()> slot_held)
        : open_for_(open_for),
          slot_held_(std::move(slot_held))
    {}

    void arrive(reader who, bool once, time_point until, time_point now, steps& out);
    // A reader that waits does not want to any more.
    void abandon(reader who, steps& out);
    // A reader that was admitted in this visit is done.
    void leave(visit which, steps& out);

    // The entry has passed the gate: with a new slot, or with the one that the room has.
    void entered(bool new_slot, time_point now, steps& out);
    void entry_failed(error_code why, time_point now, steps& out);
    // The lease of the slot is lost.
    void lost(visit which) noexcept;

    // Refuses readers that have waited long enough; to be called at next_deadline().
    void expire(time_point now, steps& out);
    time_point next_deadline() const noexcept;

    // Whether readers are inside, with a slot that is still theirs.
    bool occupied() const { return inside_ != 0 && slot_held_(); }
    visit current() const noexcept { return visit_; }
    bool entering() const noexcept { return entering_; }

private:
    struct waiting {
        reader who;
        bool once;
        time_point until;
    };

    void start_entry(steps& out);
    // Refuses those for which `over` is true. Keeps the order of the others.
    template <class Over>
    void refuse_if(Over over, error_code why, steps& out);

    const duration open_for_;
    const std::function<bool()> slot_held_;
    visit visit_ = 0;
    std::size_t inside_ = 0; // readers of this visit
    time_point open_until_ = core::long_ago;
    std::vector<waiting> waiting_; // in the order of their arrival
    bool entering_ = false;
    bool entering_once_ = false;
    time_point entering_until_{};
};

} // namespace holdfast::recipes
