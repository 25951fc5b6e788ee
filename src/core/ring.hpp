#pragma once

#include <cassert>
#include <cstddef>
#include <vector>

namespace holdfast::core {

// A queue in one block of memory. The block grows and never shrinks, so a steady flow through it
// allocates nothing.
template <class T>
class ring {
public:
    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

    const T& front() const noexcept
    {
        assert(!empty());
        return items_[first_];
    }

    const T& back() const noexcept
    {
        assert(!empty());
        return items_[(first_ + size_ - 1) & (items_.size() - 1)];
    }

    // The `i`-th from the front.
    T& operator[](std::size_t i) noexcept
    {
        assert(i < size_);
        return items_[(first_ + i) & (items_.size() - 1)];
    }

    void push(const T& item)
    {
        if (size_ == items_.size())
            grow();
        items_[(first_ + size_) & (items_.size() - 1)] = item;
        ++size_;
    }

    T pop() noexcept
    {
        assert(!empty());
        const T item = items_[first_];
        first_ = (first_ + 1) & (items_.size() - 1);
        --size_;
        return item;
    }

private:
    void grow()
    {
        std::vector<T> larger(items_.empty() ? 64 : items_.size() * 2);
        for (std::size_t i = 0; i < size_; ++i)
            larger[i] = items_[(first_ + i) & (items_.size() - 1)];
        items_ = std::move(larger);
        first_ = 0;
    }

    std::vector<T> items_; // its size is a power of two
    std::size_t first_ = 0, size_ = 0;
};

} // namespace holdfast::core
