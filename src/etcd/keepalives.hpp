#pragma once

#include "core/time.hpp"
#include "etcd/wire/grpc.hpp"

#include <deque>
#include <optional>

namespace holdfast::etcd_store {

// The requests that keep one lease alive, in one call. The answers come in the order of the
// requests.
class keepalives {
public:
    // The call; 0: to be begun.
    wire::stream_id call() const noexcept { return call_; }
    void sent(wire::stream_id call, core::time_point now)
    {
        call_ = call;
        last_ = now;
        unanswered_.push_back(now);
    }
    // Returns when the oldest unanswered request was sent, or nothing if there is none.
    std::optional<core::time_point> answered() noexcept
    {
        if (unanswered_.empty())
            return std::nullopt;
        const core::time_point sent = unanswered_.front();
        unanswered_.pop_front();
        return sent;
    }
    // The lease has begun by a request that was sent then.
    void begin(core::time_point now) noexcept
    {
        end();
        last_ = now;
    }
    // The call has ended.
    void end() noexcept
    {
        call_ = 0;
        last_ = core::long_ago;
        unanswered_.clear();
    }

    // When the last request was sent, answered or not; long_ago: on another connection, or none.
    core::time_point last() const noexcept { return last_; }
    // When the oldest unanswered request was sent.
    core::time_point waits_since() const noexcept
    {
        return unanswered_.empty() ? core::never : unanswered_.front();
    }

private:
    wire::stream_id call_ = 0;
    core::time_point last_ = core::long_ago;
    std::deque<core::time_point> unanswered_;
};

} // namespace holdfast::etcd_store
