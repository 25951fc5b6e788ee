#pragma once

#include "recipes/errand.hpp"
#include "recipes/reader_room.hpp"
#include "recipes/slot_search.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace holdfast::recipes {

// How the readers of a process enter. One of them passes the gate for all, so they stand in one
// queue with the writers. Behind the gate it takes a slot, unless readers of this process have one
// already. Then it leaves the gate, and the slot keeps writers out.
class reader_entry final : public errand {
public:
    // The slots are the locks 0 to slots - 1; the gate is the next one. Succeeds with a slot, or
    // with the gate if the room has a slot already. Precondition: `room` and `board` outlive this.
    reader_entry(const reader_room& room, slot_board& board, patience limit, duration interval,
        std::uint64_t random) noexcept
        : room_(room),
          board_(board),
          limit_(limit),
          interval_(interval),
          random_(random)
    {}

    void begin(time_point now, steps& out) override;
    void granted(std::size_t lock, time_point now, const lease_view& leases, steps& out) override;
    void refused(std::size_t lock, error_code why, time_point now, steps& out) override;
    void woken(time_point now, steps& out) override;
    void end() noexcept override;

private:
    std::size_t gate() const noexcept { return board_.slots(); }
    void ask_for_gate(steps& out) const;

    const reader_room& room_;
    slot_board& board_;
    const patience limit_;
    const duration interval_;
    core::jitter random_;
    std::optional<slot_search> search_;
};

} // namespace holdfast::recipes
