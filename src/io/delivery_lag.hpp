#pragma once

#include "core/time.hpp"

#include <algorithm>
#include <cstdint>

namespace holdfast::io {

// Measures for how long finished operations wait until their handlers run. Takes a mark from time
// to time, and waits until as many operations have been delivered as had finished at the mark. So
// an operation needs no time of its own, and a chain of handlers that finish operations is no lag.
class delivery_lag {
public:
    void finished() noexcept { ++finished_; }
    void delivered() noexcept
    {
        if (++delivered_ == finished_) {
            marked_ = false;
            latest_ = core::duration(0);
        }
    }

    // The latest measurement, or that under way if it is longer already. To be called regularly.
    core::duration look(core::time_point now) noexcept
    {
        if (delivered_ == finished_)
            return core::duration(0);
        const core::duration since = marked_ ? now - marked_at_ : core::duration(0);
        if (marked_ && delivered_ < mark_)
            return std::max(latest_, since);
        latest_ = since;
        marked_ = true;
        mark_ = finished_;
        marked_at_ = now;
        return latest_;
    }

private:
    std::uint64_t finished_ = 0, delivered_ = 0;
    bool marked_ = false;
    std::uint64_t mark_ = 0; // of the finished operations
    core::time_point marked_at_{};
    core::duration latest_{};
};

} // namespace holdfast::io
