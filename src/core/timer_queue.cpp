#include "core/timer_queue.hpp"

#include <algorithm>

namespace holdfast::core {

namespace {

constexpr auto comes_later = [](const auto& a, const auto& b) noexcept {
    return a.when > b.when;
};

} // namespace

void timer_queue::add(key k, time_point when)
{
    // An entry that was replaced by an earlier one stays until it is due. Each key has one entry
    // that counts, so there are more of the others then.
    if (entries_.size() >= 2 * slots_.size() + 64)
        drop_replaced();
    entries_.push_back({when, k});
    std::push_heap(entries_.begin(), entries_.end(), comes_later);
    slots_[k].entry = when;
    slots_[k].cleared = cleared_;
}

std::optional<timer_queue::key> timer_queue::find_due(time_point now) noexcept
{
    while (!entries_.empty() && entries_.front().when <= now) {
        std::pop_heap(entries_.begin(), entries_.end(), comes_later);
        entry& last = entries_.back();
        slot& s = slots_[last.what];
        if (s.entry != last.when) { // it was replaced
            entries_.pop_back();
            continue;
        }
        if (s.deadline == last.when) {
            const key due = last.what;
            entries_.pop_back();
            s = {};
            if (--size_ == 0)
                clear();
            return due;
        }
        s.entry = s.deadline;
        if (s.deadline == never) {
            entries_.pop_back();
            continue;
        }
        last.when = s.deadline;
        std::push_heap(entries_.begin(), entries_.end(), comes_later);
    }
    return std::nullopt;
}

void timer_queue::drop_replaced() noexcept
{
    std::erase_if(entries_, [this](const entry& e) { return slots_[e.what].entry != e.when; });
    std::make_heap(entries_.begin(), entries_.end(), comes_later);
}

} // namespace holdfast::core
