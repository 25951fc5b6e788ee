#pragma once

#include "core/claim.hpp"
#include "core/time.hpp"

#include <cstddef>

namespace holdfast::core {

// What a store still does when the locker has nothing any more: an optional part of the seam.
class store_cleanup {
public:
    // The locker is closing, and will not release this granted claim: it is to stay in the store
    // until its ttl is over. No event follows.
    virtual void leave(claim_id) {}

    // The locker is closing and has no attempt and no lease. Releases may still be under way. To be
    // called once, before close(). What is kept for later claims, as a session, is given back.
    virtual void wind_up(time_point) {}

    // How many deletions, or other requests of this kind, are under way. The number falls as long
    // as they are answered.
    virtual std::size_t under_way() const noexcept { return 0; }
    bool is_done() const noexcept { return under_way() == 0; }

protected:
    ~store_cleanup() = default;
};

} // namespace holdfast::core
