#pragma once

#include "core/ring.hpp"
#include "core/time.hpp"
#include "redis/node/request.hpp"

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace holdfast::redis {

// The requests of one connection that are not answered yet, in the order in which they are sent,
// and how far they have been written. Replies come in the same order.
class requests_under_way {
public:
    bool empty() const noexcept { return requests_.empty(); }
    std::size_t size() const noexcept { return requests_.size(); }
    // Precondition: not empty.
    const request& oldest() const noexcept { return requests_.front(); }

    // A request has been queued, as so many bytes behind those of the others.
    void push(request r, std::size_t bytes)
    {
        r.bytes = static_cast<std::uint32_t>(bytes);
        requests_.push(r);
    }

    // The stream has taken so many more of the bytes.
    void wrote(std::size_t n) noexcept { next_written_ += n; }
    // Sets the time of requests whose last byte has been written since the last call, up to the
    // first that was written noticeably later than it was queued. Returns that request; null if all
    // are done. Valid until the next change.
    const request* stamp(core::time_point now) noexcept;

    // Whether any has been written wholly, so that a reply can belong to it.
    bool any_written() const noexcept { return written_ != 0; }
    // The oldest is answered, and no longer under way. Precondition: any_written().
    request answered() noexcept
    {
        assert(any_written());
        --written_;
        return requests_.pop();
    }
    // The connection is lost, and the oldest with it. Precondition: not empty.
    request lose() noexcept
    {
        written_ = next_written_ = 0;
        return requests_.pop();
    }

private:
    core::ring<request> requests_;
    std::size_t written_ = 0;      // so many of these have been written wholly
    std::size_t next_written_ = 0; // bytes of the others that have been written
};

} // namespace holdfast::redis
