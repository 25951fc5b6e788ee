#pragma once

#include "core/time.hpp"

namespace holdfast::core {

// What a store has granted, or has confirmed in a renewal. The store alone says how these belong
// together: it may give another ttl than the one it was asked for, and may subtract a reserve.
struct validity {
    time_point asked{}; // just before the request was sent on which it rests
    duration ttl{};     // the period after which the store frees the resource
    time_point until{}; // how long the holder may rely on it
    // A renewal that is asked for earlier has nothing newer to tell.
    time_point renewable_at = long_ago;

    friend bool operator==(const validity&, const validity&) = default;
};

} // namespace holdfast::core
