#pragma once

#include "core/backend.hpp"
#include "etcd/queue_place.hpp"
#include "etcd/wire/grpc.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::etcd_store {

// An attempt, then perhaps a lease, then what is left of them at the server.
struct claim {
    enum class stage : std::uint8_t {
        asking,  // its request has to be made, or is under way
        waiting, // its key is in the queue, behind others
        first,   // its key is the first one; the session has to be confirmed
        held,
        leaving, // its key, if there is one, has to be deleted
    };

    // So many tokens belong to each revision of the store.
    static constexpr std::uint64_t block = 1024;

    stage now = stage::asking;
    queue_place place{};
    core::claim_params terms{};
    std::uint64_t tag = 0;
    std::size_t session = 0;              // its index
    std::int64_t lease = 0;               // that its key is under; 0: no request was sent
    wire::stream_id call = 0;             // under way
    core::time_point asked = core::never; // when its last request was sent, or its turn came
    std::uint64_t transfers = 0;          // of the lease, in this process
    unsigned removals = 0;                // requests to delete its key
    bool uses_queue = false;              // else it is refused if the queue is not empty
    bool parked = false;                  // told that it waits in the queue
    bool dubious = false;                 // a request without an answer may still be executed
    bool unanswered = false;              // release() was called, and not yet answered
    std::vector<wire::deletion> early{};  // deletions that came before the answer to its request

    void apply_early()
    {
        for (const wire::deletion& each : early)
            place.deleted(each);
        early.clear();
    }
    std::uint64_t token() const noexcept
    {
        return static_cast<std::uint64_t>(place.created()) * block + transfers;
    }
};

} // namespace holdfast::etcd_store
