#pragma once

#include "core/lease_keeper.hpp"
#include "core/slot_map.hpp"
#include "core/time.hpp"

#include <holdfast/error.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

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
    time_point ends = never;
    errc last_error{};  // of its last attempt; none before the first
    bool once = false;  // ends with its first attempt
    bool quiet = false; // a refusal is not an error
};

// The demand of this process for one resource: the waits, first come, first served, and the lease
// of the local holder. Only the first wait asks the backend.
struct wait_queue {
    std::string resource;
    slot_id first = 0, last = 0; // of the waits
    slot_id asking = 0;          // the lease slot of the attempt of `first`, if it has one
    slot_id holder = 0;          // the lease slot of the local holder
    bool in_turn = false;        // others go first: the next attempt joins the backend's queue
    bool in_line = false;        // its next attempt waits for admission
    unsigned failures = 0;       // attempts refused in a row
    errc last_error{};           // of the last refused attempt; none after a grant
    time_point retry_at{};       // no attempt before this time
    time_point turns_since{};    // local holders have followed each other since then
    std::size_t turns = 0;       // how many local holders have followed
    time_point closed_since{};   // since then all pauses were too short for polling clients

    bool unused() const noexcept { return first == 0 && asking == 0 && holder == 0; }
};

// The queues of all resources. A queue exists only while it has waits or a holder.
class wait_queues {
public:
    // The queue of a resource, created if necessary.
    slot_id open(std::string_view resource);
    bool contains(std::string_view resource) const noexcept { return by_name_.contains(resource); }
    // To be called when a wait or a holder has left the queue.
    void close_if_unused(slot_id queue);

    slot_id append(slot_id queue, const wait& w);
    // Removes a wait at any position and links its neighbours.
    void remove(slot_id id);

    wait_queue* find(slot_id id) noexcept { return queues_.find(id); }
    wait_queue& at(slot_id id) noexcept { return queues_[id]; }
    wait* find_wait(slot_id id) noexcept { return waits_.find(id); }
    wait& wait_at(slot_id id) noexcept { return waits_[id]; }
    slot_id wait_id_at(std::uint32_t index) const noexcept { return waits_.id_at(index); }
    slot_id queue_id_at(std::uint32_t index) const noexcept { return queues_.id_at(index); }

    std::size_t waiting() const noexcept { return waits_.size(); }
    std::size_t size() const noexcept { return queues_.size(); }
    // Slots that may be in use; to visit all waits.
    std::uint32_t wait_capacity() const noexcept { return waits_.capacity(); }

private:
    slot_map<wait_queue> queues_;
    slot_map<wait> waits_;
    boost::unordered_flat_map<std::string_view, slot_id> by_name_; // keys live in the queues
};

} // namespace holdfast::core
