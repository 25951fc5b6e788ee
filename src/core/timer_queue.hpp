#pragma once

#include "core/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::core {

// Stores at most one deadline for each key. A key is a small number (the index of a slot).
//
// Most deadlines are erased, or replaced by later ones, before they are due. So this only notes the
// new deadline: the entry of the old one stays in a binary heap. When that entry is due, it is
// moved to the new deadline or dropped. A deadline that is set before the old one gets another
// entry.
class timer_queue {
public:
    using key = std::uint32_t;

    // Sets or moves the deadline of `k`; `never` removes it. If memory runs out, `k` has none.
    void set(key k, time_point when)
    {
        erase(k);
        if (when == never)
            return;
        if (k >= slots_.size())
            slots_.resize(k + std::size_t(1));
        slot& s = slots_[k];
        if (s.cleared != cleared_ || when < s.entry)
            add(k, when);
        else if (entries_.size() == 1) // it is that of `k`
            s.entry = entries_.front().when = when;
        s.deadline = when;
        ++size_;
    }
    void erase(key k) noexcept
    {
        if (k >= slots_.size() || slots_[k].deadline == never)
            return;
        slots_[k].deadline = never;
        if (--size_ == 0)
            clear();
    }

    // Not after the earliest deadline; `never` if there is none. With several keys it may be before
    // that: the time of a deadline that was erased or moved. pop_due() of that time makes it later.
    time_point earliest() const noexcept { return size_ == 0 ? never : entries_.front().when; }

    // Removes and returns a key whose deadline is not after `now`, the earliest first.
    std::optional<key> pop_due(time_point now) noexcept
    {
        if (earliest() > now)
            return std::nullopt;
        return find_due(now);
    }

    std::size_t size() const noexcept { return size_; }
    // Entries in the heap, of deadlines that are set and of others.
    std::size_t entries() const noexcept { return entries_.size(); }

private:
    struct entry {
        time_point when;
        key what;
    };
    struct slot {
        time_point deadline = never;
        time_point entry = never;  // the time of its entry that counts; not after the deadline
        std::uint64_t cleared = 0; // of its entry; another number: that is gone
    };

    void add(key k, time_point when);
    std::optional<key> find_due(time_point now) noexcept;
    void drop_replaced() noexcept;
    void clear() noexcept
    {
        entries_.clear();
        ++cleared_;
    }

    std::vector<entry> entries_; // a heap, the earliest first
    std::vector<slot> slots_;    // by key
    std::size_t size_ = 0;
    std::uint64_t cleared_ = 1;
};

} // namespace holdfast::core
