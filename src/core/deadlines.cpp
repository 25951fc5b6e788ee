#include "core/deadlines.hpp"

namespace holdfast::core {

void deadlines::set(key k, time_point when)
{
    if (when == never)
        return erase(k);
    if (k >= where_.size())
        where_.resize(k + std::size_t(1), absent);

    const item i{when, k};
    if (where_[k] == absent) {
        heap_.push_back(i);
        sift_up(heap_.size() - 1, i);
        return;
    }
    const std::size_t position = where_[k];
    if (when < heap_[position].when)
        sift_up(position, i);
    else
        sift_down(position, i);
}

void deadlines::erase(key k) noexcept
{
    if (k < where_.size() && where_[k] != absent)
        remove_at(where_[k]);
}

std::optional<deadlines::key> deadlines::pop_due(time_point now) noexcept
{
    if (heap_.empty() || heap_.front().when > now)
        return std::nullopt;
    const key k = heap_.front().what;
    remove_at(0);
    return k;
}

void deadlines::place(std::size_t position, item i) noexcept
{
    heap_[position] = i;
    where_[i.what] = static_cast<std::uint32_t>(position);
}

void deadlines::sift_up(std::size_t position, item i) noexcept
{
    while (position > 0) {
        const std::size_t parent = (position - 1) / 2;
        if (heap_[parent].when <= i.when)
            break;
        place(position, heap_[parent]);
        position = parent;
    }
    place(position, i);
}

void deadlines::sift_down(std::size_t position, item i) noexcept
{
    for (;;) {
        std::size_t child = 2 * position + 1;
        if (child >= heap_.size())
            break;
        if (child + 1 < heap_.size() && heap_[child + 1].when < heap_[child].when)
            ++child;
        if (heap_[child].when >= i.when)
            break;
        place(position, heap_[child]);
        position = child;
    }
    place(position, i);
}

void deadlines::remove_at(std::size_t position) noexcept
{
    where_[heap_[position].what] = absent;
    const item last = heap_.back();
    heap_.pop_back();
    if (position == heap_.size())
        return;
    if (position > 0 && last.when < heap_[(position - 1) / 2].when)
        sift_up(position, last);
    else
        sift_down(position, last);
}

} // namespace holdfast::core
