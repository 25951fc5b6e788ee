#pragma once

#include "core/time.hpp"

#include <cassert>
#include <cstddef>

namespace holdfast::etcd_store {

// How many claims need a session, and since when none does.
class session_users {
public:
    void enter() noexcept { ++count_; }
    void leave(core::time_point now) noexcept
    {
        assert(count_ != 0);
        if (--count_ == 0)
            idle_since_ = now;
    }
    bool any() const noexcept { return count_ != 0; }
    // When none has needed it for so long that it can be given back; never while one does.
    core::time_point idle_at() const noexcept
    {
        return any() ? core::never : idle_since_ + longest_idle;
    }

private:
    static constexpr core::duration longest_idle = std::chrono::seconds(30);

    std::size_t count_ = 0;
    core::time_point idle_since_ = core::long_ago;
};

} // namespace holdfast::etcd_store
