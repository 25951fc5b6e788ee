#include "core/timer_queue.hpp"

#include <algorithm>

namespace holdfast::core {

void timer_queue::set(key k, time_point when)
{
    erase(k);
    if (when == never)
        return;
    if (k >= where_.size())
        where_.resize(k + std::size_t(1));
    const item i{when, k};
    if (run* const r = fitting(when)) {
        append(*r, i);
    } else {
        heap_.push_back(i);
        sift_up(heap_.size() - 1, i);
    }
    earliest_ = std::min(earliest_, when);
    ++size_;
}

void timer_queue::erase(key k) noexcept
{
    if (k >= where_.size() || where_[k].position == absent)
        return;
    const place p = where_[k];
    where_[k] = {};
    --size_;
    const std::vector<item>& all = p.run != in_heap ? runs_[p.run].items : heap_;
    const bool was_first = all[p.position].when == earliest_;
    if (p.run != in_heap)
        erase_in(runs_[p.run], p.position);
    else
        erase_in_heap(p.position);
    if (was_first)
        earliest_ = find_earliest();
}

time_point timer_queue::find_earliest() const noexcept
{
    time_point first = heap_.empty() ? never : heap_.front().when;
    for (const run& r : runs_)
        first = std::min(first, r.first());
    return first;
}

timer_queue::key timer_queue::pop_earliest() noexcept
{
    const auto from = std::find_if(runs_.begin(), runs_.end(),
        [this](const run& r) { return !r.empty() && r.first() == earliest_; });
    const key k = from != runs_.end() ? from->items[from->begin].what : heap_.front().what;
    erase(k);
    return k;
}

// The run whose last deadline is nearest before this one. So timers of one length share a run.
timer_queue::run* timer_queue::fitting(time_point when) noexcept
{
    run* best = nullptr;
    for (run& r : runs_) {
        if (r.last() <= when && (best == nullptr || r.last() > best->last()))
            best = &r;
    }
    return best;
}

void timer_queue::append(run& r, item i)
{
    if (r.items.size() == r.items.capacity() && r.used < r.items.size() / 8 * 7)
        close_gaps(r); // instead of growing
    r.items.push_back(i);
    ++r.used;
    where_[i.what] = {.position = static_cast<std::uint32_t>(r.items.size() - 1),
        .run = static_cast<std::uint32_t>(&r - runs_.data())};
}

void timer_queue::erase_in(run& r, std::size_t position) noexcept
{
    r.items[position].what = absent;
    --r.used;
    while (!r.empty() && r.items[r.begin].what == absent)
        ++r.begin;
    while (!r.empty() && r.items.back().what == absent)
        r.items.pop_back();
    if (r.empty()) {
        r.items.clear();
        r.begin = 0;
    }
}

void timer_queue::close_gaps(run& r) noexcept
{
    std::size_t to = 0;
    for (std::size_t from = r.begin; from < r.items.size(); ++from) {
        if (r.items[from].what == absent)
            continue;
        r.items[to] = r.items[from];
        where_[r.items[to].what].position = static_cast<std::uint32_t>(to);
        ++to;
    }
    r.items.resize(to);
    r.begin = 0;
}

void timer_queue::put(std::size_t position, item i) noexcept
{
    heap_[position] = i;
    where_[i.what].position = static_cast<std::uint32_t>(position);
}

void timer_queue::sift_up(std::size_t position, item i) noexcept
{
    while (position > 0) {
        const std::size_t parent = (position - 1) / 2;
        if (heap_[parent].when <= i.when)
            break;
        put(position, heap_[parent]);
        position = parent;
    }
    put(position, i);
}

void timer_queue::sift_down(std::size_t position, item i) noexcept
{
    for (;;) {
        std::size_t child = 2 * position + 1;
        if (child >= heap_.size())
            break;
        if (child + 1 < heap_.size() && heap_[child + 1].when < heap_[child].when)
            ++child;
        if (heap_[child].when >= i.when)
            break;
        put(position, heap_[child]);
        position = child;
    }
    put(position, i);
}

void timer_queue::erase_in_heap(std::size_t position) noexcept
{
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
