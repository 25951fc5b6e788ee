#pragma once

#include "core/backoff.hpp"
#include "recipes/errand.hpp"
#include "recipes/slot_board.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::recipes {

// Finds a free one among several equal locks, the slots.
//
// First it tries each slot once, from a random one on, so that not all ask for the same slot. Then
// it waits in the queue of one slot, of two after an interval, of four after two, up to a limit:
// in each queue it keeps its place, so it has its turn although others come and go. After each
// interval it tries the remaining slots again, so it finds a slot that became free elsewhere. It
// leaves out slots that other calls of this process wait for: these calls get them. A slot whose
// key has other data counts as a slot that is taken, unless no other slot is left.
class slot_search final : public errand {
public:
    static constexpr std::size_t most_places = 8; // queues in which one call waits

    // Tries again after each `interval`. Precondition: the board outlives this.
    slot_search(slot_board& board, patience limit, duration interval, std::uint64_t random) noexcept
        : board_(board),
          limit_(limit),
          interval_(interval),
          first_(static_cast<std::size_t>(random % board.slots()))
    {}

    void begin(time_point now, steps& out) override;
    void granted(std::size_t slot, time_point, const lease_view&, steps& out) override;
    void refused(std::size_t slot, error_code why, time_point now, steps& out) override;
    void woken(time_point now, steps& out) override;
    void end() noexcept override;

private:
    void sweep(time_point now, steps& out);
    void try_next(time_point now, steps& out);
    void swept(time_point now, steps& out);
    void wait_in_more(steps& out);
    bool waits_in(std::size_t slot) const noexcept;
    bool conflicts(std::size_t slot) const noexcept;
    bool all_conflict() const noexcept { return conflicts_.size() == board_.slots(); }
    void fail(steps& out);

    slot_board& board_;
    const patience limit_;
    const duration interval_;
    const std::size_t first_;
    std::size_t swept_ = 0; // slots that this sweep has tried or left out
    bool first_sweep_ = true;
    bool trying_ = false;
    std::size_t tried_ = 0;              // the slot that is being tried
    std::vector<std::size_t> places_;    // the slots in whose queues it waits
    std::vector<std::size_t> conflicts_; // the slots whose last answer was a `key_conflict`
    error_code error_;                   // the last other one
};

} // namespace holdfast::recipes
