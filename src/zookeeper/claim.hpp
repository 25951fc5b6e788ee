#pragma once

#include "core/backend.hpp"
#include "zookeeper/node_names.hpp"
#include "zookeeper/queue_place.hpp"
#include "zookeeper/wire/messages.hpp"

#include <cstdint>
#include <string>

namespace holdfast::zookeeper_store {

// An attempt, then perhaps a lease, then what is left of them at the servers.
struct claim {
    enum class stage : std::uint8_t {
        asking,  // its node has to be created, or is being created
        waiting, // its node is in the queue, behind others
        first,   // its node is the first one; the session has to be confirmed
        held,
        leaving, // its node, if there is one, has to be deleted
    };

    // So many tokens belong to each transaction of the servers.
    static constexpr std::uint64_t block = 64;

    stage now = stage::asking;
    queue_place place{};
    core::claim_params terms{};
    core::owner_token token{};
    std::uint64_t tag = 0;
    std::int64_t session = 0;                  // that its node is under; 0: no request was sent
    core::time_point asked = core::never;      // when its last request was sent, or its turn came
    core::time_point renewed = core::long_ago; // what its validity counts from
    core::time_point wishes_from = core::long_ago; // of the next one; long_ago: it wants none
    std::uint64_t transfers = 0;                   // of the lease, in this process
    unsigned tries = 0;                            // names that were used before
    unsigned removals = 0;                         // requests to delete its node
    unsigned folders_made = 0;                     // requests to create its folder
    std::int32_t trouble = wire::code::ok;         // with which its node was not created
    bool creating = false;                         // the request for its node is unanswered
    bool listing = false;                          // a list of the queue is under way
    bool removal_waits = false;                    // its node is to be deleted after others
    bool parked = false;                           // told that it waits in the queue
    bool unanswered = false;                       // release() was called, and not yet answered

    std::string prefix() const
    {
        return lock_prefix(token.view(), tries, terms.queue != core::queueing::none);
    }
    std::uint64_t fence() const noexcept
    {
        return static_cast<std::uint64_t>(place.created()) * block + transfers;
    }
};

} // namespace holdfast::zookeeper_store
