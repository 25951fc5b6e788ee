#pragma once

#include "core/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::core {

// Stores at most one deadline for each key. A key is a small number (the index of a slot).
//
// Most timers of one length fall due in the order in which they are set. A few runs, each in order
// of time, take these: set and erase cost O(1), amortised. A deadline that does not fit at the end
// of any run goes into a binary heap that knows the position of each key: O(log n). If as many
// far-away deadlines are set as there are runs, the heap is used until these are gone.
class timer_queue {
public:
    using key = std::uint32_t;

    // Sets or moves the deadline of `k`; `never` removes it. If memory runs out, `k` has none.
    void set(key k, time_point when);
    void erase(key k) noexcept;

    time_point earliest() const noexcept { return earliest_; }

    // Removes and returns a key whose deadline is not after `now`, the earliest first.
    std::optional<key> pop_due(time_point now) noexcept
    {
        if (size_ == 0 || earliest_ > now)
            return std::nullopt;
        return pop_earliest();
    }

    std::size_t size() const noexcept { return size_; }

private:
    static constexpr std::uint32_t absent = UINT32_MAX;
    static constexpr std::uint32_t most_runs = 3; // attempts, remembered attempts, leases

    static constexpr std::uint32_t in_heap = most_runs;

    struct item {
        time_point when;
        key what;
    };
    // The first and the last item are in use. Between them there are gaps, which are `absent`.
    struct run {
        std::vector<item> items;
        std::size_t begin = 0, used = 0;

        bool empty() const noexcept { return begin == items.size(); }
        time_point first() const noexcept { return empty() ? never : items[begin].when; }
        time_point last() const noexcept { return empty() ? long_ago : items.back().when; }
    };
    struct place {
        std::uint32_t position = absent;
        std::uint32_t run = in_heap;
    };

    key pop_earliest() noexcept;
    time_point find_earliest() const noexcept;
    run* fitting(time_point when) noexcept;
    void append(run& r, item i);
    void erase_in(run& r, std::size_t position) noexcept;
    void close_gaps(run& r) noexcept;

    void put(std::size_t position, item i) noexcept;
    void sift_up(std::size_t position, item i) noexcept;
    void sift_down(std::size_t position, item i) noexcept;
    void erase_in_heap(std::size_t position) noexcept;

    std::array<run, most_runs> runs_;
    std::vector<item> heap_;
    std::vector<place> where_; // by key
    time_point earliest_ = never;
    std::size_t size_ = 0;
};

} // namespace holdfast::core
