#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace holdfast::core {

// Identifies one use of a slot. 0 identifies none. The lower half is the index of the slot, the
// upper half counts its uses, so an id that outlives its object finds nothing.
using slot_id = std::uint64_t;

constexpr std::uint32_t slot_index(slot_id id) noexcept
{
    return static_cast<std::uint32_t>(id);
}

// A container for millions of short-lived objects, found by an id that is safe to keep. Objects do
// not move. They are not destroyed between uses, so the memory that they own is used again: the
// user of a slot resets its members after take().
template <class T>
class slot_map {
public:
    slot_map() = default;
    slot_map(const slot_map&) = delete;
    slot_map& operator=(const slot_map&) = delete;

    slot_id take()
    {
        std::uint32_t index = 0;
        if (free_.empty()) {
            index = made_;
            if (index % in_a_chunk == 0)
                chunks_.push_back(std::make_unique<entry[]>(in_a_chunk));
            ++made_;
        } else {
            index = free_.back();
            free_.pop_back();
        }
        entry& e = at(index);
        e.used = true;
        ++size_;
        return make_id(index, e.uses);
    }

    // Precondition: `id` is in use.
    void give_back(slot_id id)
    {
        entry& e = at(slot_index(id));
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
        if (index >= made_)
            return nullptr;
        entry& e = at(index);
        return e.used && make_id(index, e.uses) == id ? &e.object : nullptr;
    }

    const T* find(slot_id id) const noexcept { return const_cast<slot_map*>(this)->find(id); }

    // Precondition: `id` is in use.
    T& operator[](slot_id id) noexcept
    {
        assert(find(id) != nullptr);
        return at(slot_index(id)).object;
    }

    // The id of the object in slot `index`, or 0 if the slot is free.
    slot_id id_at(std::uint32_t index) const noexcept
    {
        if (index >= made_ || !at(index).used)
            return 0;
        return make_id(index, at(index).uses);
    }

    std::size_t size() const noexcept { return size_; }
    std::uint32_t capacity() const noexcept { return made_; }

private:
    struct entry {
        T object{};
        std::uint32_t uses = 1;
        bool used = false;
    };

    static constexpr std::uint32_t in_a_chunk = 64;

    entry& at(std::uint32_t index) noexcept
    {
        return chunks_[index / in_a_chunk][index % in_a_chunk];
    }
    const entry& at(std::uint32_t index) const noexcept
    {
        return chunks_[index / in_a_chunk][index % in_a_chunk];
    }

    static constexpr slot_id make_id(std::uint32_t index, std::uint32_t uses) noexcept
    {
        return static_cast<slot_id>(uses) << 32 | index;
    }

    std::vector<std::unique_ptr<entry[]>> chunks_;
    std::uint32_t made_ = 0; // entries that have been used
    std::vector<std::uint32_t> free_;
    std::size_t size_ = 0;
};

} // namespace holdfast::core
