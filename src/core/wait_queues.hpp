#pragma once

#include "core/lease_keeper.hpp"
#include "core/local_turns.hpp"
#include "core/slot_map.hpp"
#include "core/time.hpp"
#include "core/timer_queue.hpp"

#include <holdfast/error.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::core {

// One waiting call of acquire.
struct wait {
    std::uint64_t tag = 0; // the caller's id of the wait
    slot_id queue = 0;
    slot_id before = 0, behind = 0; // its neighbours
    lease_params terms{};
    time_point began{}, ends = never;
    errc last_error{};  // of its last attempt; none before the first
    bool once = false;  // ends with its first attempt
    bool quiet = false; // a refusal is not an error

    // Whether it ends when the backend is cut off. A single attempt finds that out by itself.
    bool fails_fast() const noexcept { return terms.fails_fast && !once; }
};

// The demand of this process for one resource: the waits, first come, first served, and the lease
// of the local holder. Only the first wait asks the backend.
struct wait_queue {
    std::string resource;
    slot_id first = 0, last = 0; // of the waits
    std::size_t waits = 0;
    slot_id asking = 0;    // the claim of the attempt for `first`, if there is one
    slot_id holder = 0;    // the claim of the local holder
    bool in_turn = false;  // others go first: the next attempt joins the backend's queue
    slot_id place = 0;     // in the line for admission, if its next attempt waits there
    unsigned failures = 0; // attempts refused in a row
    errc last_error{};     // of the last refused attempt; none after a grant
    time_point retry_at{}; // no attempt before this time
    local_turns turns;

    bool unused() const noexcept { return first == 0 && asking == 0 && holder == 0; }
};

// The queues of all resources, and their timers: when a wait ends, and when a queue tries again. A
// queue exists only while it has waits or a holder.
class wait_queues {
public:
    // The queue of a resource, created if necessary.
    slot_id open(std::string_view resource);
    bool contains(std::string_view resource) const noexcept { return by_name_.contains(resource); }
    // To be called when a wait or a holder has left the queue.
    void close_if_unused(slot_id queue);

    // Null if it does not exist.
    const wait_queue* find(std::string_view resource) const noexcept;
    // Whether there is a local holder.
    bool holds(std::string_view resource) const noexcept;

    // The first wait of a queue; null if there is none.
    const wait* first_of(slot_id queue) noexcept
    {
        const slot_id first = queues_[queue].first;
        return first != 0 ? &waits_[first] : nullptr;
    }
    // That wait gets the lease. Returns its tag.
    std::uint64_t take_first(slot_id queue, slot_id lease);

    // Adds a wait, which becomes due when it ends.
    slot_id append(slot_id queue, const wait& w);
    // Removes a wait at any position and links its neighbours.
    void remove(slot_id id);
    // The wait does not become due any more.
    void stop_clock(slot_id wait) noexcept { ends_.erase(slot_index(wait)); }

    // The queue becomes due at this time, whatever was set before; or not at all.
    void try_at(slot_id queue, time_point when) { tries_.set(slot_index(queue), when); }
    void do_not_try(slot_id queue) noexcept { tries_.erase(slot_index(queue)); }

    // A wait or a queue that is due, the earliest first; 0 if there is none. Each is due once.
    slot_id next_wait_due(time_point now) noexcept
    {
        const auto index = ends_.pop_due(now);
        return index ? waits_.id_at(*index) : 0;
    }
    slot_id next_queue_due(time_point now) noexcept
    {
        const auto index = tries_.pop_due(now);
        return index ? queues_.id_at(*index) : 0;
    }
    time_point wake_at() const noexcept { return std::min(ends_.earliest(), tries_.earliest()); }

    wait_queue* find(slot_id id) noexcept { return queues_.find(id); }
    wait_queue& at(slot_id id) noexcept { return queues_[id]; }
    wait* find_wait(slot_id id) noexcept { return waits_.find(id); }
    wait& wait_at(slot_id id) noexcept { return waits_[id]; }
    slot_id wait_id_at(std::uint32_t index) const noexcept { return waits_.id_at(index); }

    std::size_t waiting() const noexcept { return waits_.size(); }
    // Waits that end when the backend is cut off.
    std::size_t failing_fast() const noexcept { return failing_fast_; }
    std::size_t size() const noexcept { return queues_.size(); }
    // Slots that may be in use; to visit all waits.
    std::uint32_t wait_capacity() const noexcept { return waits_.capacity(); }

private:
    slot_map<wait_queue> queues_;
    slot_map<wait> waits_;
    boost::unordered_flat_map<std::string_view, slot_id> by_name_; // keys live in the queues
    timer_queue ends_, tries_;                                     // of waits; of queues
    std::size_t failing_fast_ = 0;
};

} // namespace holdfast::core
