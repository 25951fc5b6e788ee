#pragma once

namespace holdfast {

/// The outcome of a release.
enum class release_outcome {
    released, ///< the lease has ended for its holder: a majority of nodes has deleted the key, or
              ///< the locker keeps the key for another waiter, `linger` or `min_hold`
    expired,  ///< the lease had already ended; no key of others was touched
    unconfirmed, ///< too few nodes answered; deletion continues in the background, at most for one
                 ///< ttl
};

} // namespace holdfast
