#pragma once

#include "core/slot_map.hpp"
#include "sql/claim.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace holdfast::sql {

// The claims of a locker: found by their id, by their timer, and by their owner while they can be
// told something.
class claim_table {
public:
    core::claim_id take()
    {
        const core::claim_id id = slots_.take();
        claim& c = slots_[id];
        // The memory of the texts is used again.
        claim fresh;
        fresh.resource.swap(c.resource);
        fresh.owner.swap(c.owner);
        c = std::move(fresh);
        return id;
    }
    void give_back(core::claim_id id) { slots_.give_back(id); }
    // Null if it has ended.
    claim* find(core::claim_id id) noexcept { return slots_.find(id); }
    const claim* find(core::claim_id id) const noexcept { return slots_.find(id); }
    // Precondition: it has not ended.
    claim& operator[](core::claim_id id) noexcept { return slots_[id]; }
    std::size_t size() const noexcept { return slots_.size(); }

    // Claims may end meanwhile.
    template <class Do>
    void for_each(Do act)
    {
        for (std::uint32_t i = 0; i < slots_.capacity(); ++i) {
            if (const core::claim_id id = slots_.id_at(i); id != 0)
                act(id, slots_[id]);
        }
    }

    // It is found by its owner, or is not any more.
    void note_name(core::claim_id id) { named_[slots_[id].owner] = id; }
    void forget_name(const claim& c) { named_.erase(c.owner); }
    core::claim_id named(std::string_view owner) const
    {
        const auto found = named_.find(std::string(owner));
        return found == named_.end() ? 0 : found->second;
    }

    // Sets or moves the timer of a claim; `never` removes it.
    void set_timer(core::claim_id id, core::time_point at)
    {
        slots_[id].due = at;
        if (at != core::never)
            timers_.push({at, id});
    }
    // Perhaps too early: timers may have been moved.
    core::time_point earliest() const noexcept
    {
        return timers_.empty() ? core::never : timers_.top().first;
    }
    // The next claim whose timer is not after `now`, and now has none; 0: there is none.
    core::claim_id pop_due(core::time_point now)
    {
        forget_moved();
        if (timers_.empty() || earliest() > now)
            return 0;
        const core::claim_id id = timers_.top().second;
        set_timer(id, core::never);
        return id;
    }

private:
    using timer = std::pair<core::time_point, core::claim_id>;

    // Afterwards the first timer is in use, or there is none.
    void forget_moved()
    {
        while (!timers_.empty()) {
            const claim* const c = slots_.find(timers_.top().second);
            if (c != nullptr && c->due == timers_.top().first)
                return;
            timers_.pop();
        }
    }

    core::slot_map<claim> slots_;
    std::unordered_map<std::string, core::claim_id> named_;
    std::priority_queue<timer, std::vector<timer>, std::greater<>> timers_;
};

} // namespace holdfast::sql
