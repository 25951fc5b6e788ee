#pragma once

namespace holdfast {

/// The outcome of a release.
enum class release_outcome {
    released,    ///< a majority of nodes has deleted the key: the resource is free
    expired,     ///< the lease had already ended; no key of others was touched
    unconfirmed, ///< too few nodes answered; deletion continues in the background, at most for one
                 ///< ttl
};

} // namespace holdfast
