#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace holdfast::core {

// Names one use of a slot. 0 names none. The lower half is the index of the slot, the upper half
// counts its uses, so an id that outlives what it named finds nothing.
using slot_id = std::uint64_t;

constexpr std::uint32_t slot_index(slot_id id) noexcept
{
    return static_cast<std::uint32_t>(id);
}

// Objects that come and go by the million, found by an id that is safe to keep. Objects stay where
// they are, and are not destroyed between uses, so the memory that they own is used again: the user
// of a slot puts its members in order when it takes one.
template <class T>
class slots {
public:
    slot_id take()
    {
        std::uint32_t index = 0;
        if (free_.empty()) {
            index = static_cast<std::uint32_t>(entries_.size());
            entries_.emplace_back();
        } else {
            index = free_.back();
            free_.pop_back();
        }
        entry& e = entries_[index];
        e.used = true;
        ++size_;
        return make_id(index, e.uses);
    }

    // Precondition: `id` is in use.
    void give_back(slot_id id)
    {
        entry& e = entries_[slot_index(id)];
        assert(e.used && make_id(slot_index(id), e.uses) == id);
        e.used = false;
        if (++e.uses == 0) // id 0 names nothing
            e.uses = 1;
        free_.push_back(slot_index(id));
        --size_;
    }

    T* find(slot_id id) noexcept
    {
        const auto index = slot_index(id);
        if (index >= entries_.size())
            return nullptr;
        entry& e = entries_[index];
        return e.used && make_id(index, e.uses) == id ? &e.object : nullptr;
    }

    const T* find(slot_id id) const noexcept { return const_cast<slots*>(this)->find(id); }

    // Precondition: `id` is in use.
    T& operator[](slot_id id) noexcept
    {
        T* const found = find(id);
        assert(found != nullptr);
        return *found;
    }

    // The id of whatever uses slot `index` now, or 0.
    slot_id id_at(std::uint32_t index) const noexcept
    {
        if (index >= entries_.size() || !entries_[index].used)
            return 0;
        return make_id(index, entries_[index].uses);
    }

    std::size_t size() const noexcept { return size_; }
    std::uint32_t capacity() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }

private:
    struct entry {
        T object{};
        std::uint32_t uses = 1;
        bool used = false;
    };

    static constexpr slot_id make_id(std::uint32_t index, std::uint32_t uses) noexcept
    {
        return static_cast<slot_id>(uses) << 32 | index;
    }

    std::deque<entry> entries_;
    std::vector<std::uint32_t> free_;
    std::size_t size_ = 0;
};

} // namespace holdfast::core
