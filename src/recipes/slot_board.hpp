#pragma once

#include <cstddef>
#include <vector>

namespace holdfast::recipes {

// How many calls of this process wait in the queue of each slot. The calls on one object share it,
// so that they spread over the slots.
class slot_board {
public:
    // Precondition: slots > 0.
    explicit slot_board(std::size_t slots) : waiting_(slots) {}

    std::size_t slots() const noexcept { return waiting_.size(); }
    void join(std::size_t slot) noexcept { ++waiting_[slot]; }
    void leave(std::size_t slot) noexcept { --waiting_[slot]; }
    bool waited_for(std::size_t slot) const noexcept { return waiting_[slot] != 0; }
    std::size_t waiting(std::size_t slot) const noexcept { return waiting_[slot]; }

private:
    std::vector<std::size_t> waiting_;
};

} // namespace holdfast::recipes
