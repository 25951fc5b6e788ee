#pragma once

#include "core/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::core {

// At most one deadline for each of many things, which are known by a small number (their slot's
// index). A binary heap that knows where each thing is: set and erase cost O(log n), and next to
// nothing when deadlines are set in the order in which they fall due.
class deadlines {
public:
    using key = std::uint32_t;

    // Sets or moves the deadline of `k`; `never` takes it away.
    void set(key k, time_point when);
    void erase(key k) noexcept;

    time_point earliest() const noexcept { return heap_.empty() ? never : heap_.front().when; }

    // Takes away and returns a key whose deadline is not after `now`, the earliest first.
    std::optional<key> pop_due(time_point now) noexcept;

    std::size_t size() const noexcept { return heap_.size(); }

private:
    struct item {
        time_point when;
        key what;
    };
    static constexpr std::uint32_t absent = UINT32_MAX;

    void place(std::size_t position, item i) noexcept;
    void sift_up(std::size_t position, item i) noexcept;
    void sift_down(std::size_t position, item i) noexcept;
    void remove_at(std::size_t position) noexcept;

    std::vector<item> heap_;
    std::vector<std::uint32_t> where_; // by key: its place in the heap
};

} // namespace holdfast::core
