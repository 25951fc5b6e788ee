#pragma once

#include "core/time.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::zookeeper_store {

// When requests that keep the session alive are sent, and what their answers prove.
//
// The leader ends sessions. A follower tells it of requests of a session only in its next answer to
// the leader's ping: a quarter of the session's timeout later, at most. An answer proves only that
// the follower was in touch with the leader, and the leader with a majority, if the request was a
// write. So a heartbeat is a write, is sent a quarter of the timeout after the answer to the one
// before, and its answer proves that the leader knows of the one before: not of itself.
class heartbeats {
public:
    // The connection was made by a request that was sent then. The leader itself has answered it.
    void begin(core::time_point sent) noexcept
    {
        proven_next_ = sent;
        sent_.reset();
        answered_ = core::long_ago;
    }
    // The connection is gone.
    void end() noexcept
    {
        sent_.reset();
        answered_ = core::never;
    }

    // Precondition: none is under way.
    void sent(core::time_point now) noexcept { sent_ = now; }
    bool is_under_way() const noexcept { return sent_.has_value(); }
    // The heartbeat under way was carried out. Returns the time from which the session's timeout
    // counts, at least; none if there was no heartbeat.
    std::optional<core::time_point> answered(core::time_point now) noexcept
    {
        if (!sent_)
            return std::nullopt;
        const core::time_point proven = proven_next_;
        last_ = proven_next_ = *sent_;
        answered_ = now;
        sent_.reset();
        return proven;
    }
    // It was not carried out: another one is to be sent, and this one proves nothing.
    void failed() noexcept { sent_.reset(); }

    // When the next one is to be sent; `soon`: as early as is allowed. long_ago: at once.
    core::time_point next_at(core::duration timeout, bool soon) const noexcept
    {
        if (sent_ || answered_ == core::never)
            return core::never;
        if (answered_ == core::long_ago)
            return core::long_ago;
        const core::time_point allowed = answered_ + timeout / 4;
        return soon ? allowed : std::max(allowed, last_ + timeout / 3);
    }

    // When the next one is sent that has something to prove. long_ago: one is under way, or the
    // next one cannot be foreseen.
    core::time_point next_planned(core::duration timeout) const noexcept
    {
        const core::time_point next = next_at(timeout, false);
        return next == core::never ? core::long_ago : next;
    }

private:
    std::optional<core::time_point> sent_; // the one under way
    core::time_point proven_next_ = core::long_ago, last_ = core::long_ago;
    core::time_point answered_ = core::never;
};

} // namespace holdfast::zookeeper_store
