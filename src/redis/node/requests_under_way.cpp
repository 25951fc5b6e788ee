#include "redis/node/requests_under_way.hpp"

#include <algorithm>

namespace holdfast::redis {

namespace {

// If a request is sent so much later than it was queued, its timeouts start again.
constexpr core::duration late_after = std::chrono::milliseconds(1);

} // namespace

// The time of a request counts from when it is sent: while it waits for our own loop, or for room
// in the socket, the node has not been asked yet.
const request* requests_under_way::stamp(core::time_point now) noexcept
{
    while (written_ < requests_.size() && next_written_ >= requests_[written_].bytes) {
        request& r = requests_[written_++];
        next_written_ -= r.bytes;
        const bool late = now - r.sent > late_after;
        r.sent = std::max(r.sent, now);
        if (late)
            return &r;
    }
    return nullptr;
}

} // namespace holdfast::redis
