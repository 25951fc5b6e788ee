#pragma once

#include "redis/claim/claim.hpp"
#include "redis/dialect/key_names.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::redis {

// The encoded requests for locks: see scripts.hpp. Each stays valid until the next one.
class common_calls {
public:
    // `channel`: where we are told of our turn.
    common_calls(key_names& names, std::string channel);

    // About the key of a lock.
    std::string_view set(const claim& c);
    std::string_view repair(const claim& c, std::size_t node);
    std::string_view renew(std::span<const claim* const> claims, std::size_t node, bool by_text);
    std::string_view confirm(const claim& c, std::size_t node, bool by_text);
    std::string_view remove(const claim& c, std::size_t node, bool by_text);
    std::string_view remove_turn(const claim& c); // a key that was handed off to its place
    std::string_view owner(const claim& c);
    std::string_view track_next();
    std::string_view time_left(std::string_view lock);
    std::string_view type(std::string_view lock);

    // Whether other clients may give us their leases, and we ours: see baton.hpp.
    bool knows_batons() const noexcept;
    // The entry of a claim in a queue.
    std::string place_of(const claim& c, core::claim_id id) const;
    // About the queue of a lock.
    std::string_view enqueue(const claim& c, std::string_view place, bool by_text);
    std::string_view hand_off(
        const claim& c, std::size_t node, std::string_view place, bool by_text);
    std::string_view give_baton(
        const claim& c, std::size_t node, std::string_view terms, bool by_text);
    std::string_view join(const claim& c, std::string_view place);
    std::string_view leave(const claim& c, std::string_view place);
    std::string_view first_of_queue(const claim& c);
    std::string_view has_queue(const claim& c);
    std::string_view untrack_queue(const claim& c);
    std::string_view queue_of(const claim& c) { return names_.queue_of(c.lock); }

private:
    key_names& names_;
    const std::string channel_;
    const std::string set_, remove_, pass_on_, baton_; // the heads of requests that are sent often
    std::string command_;
};

} // namespace holdfast::redis
