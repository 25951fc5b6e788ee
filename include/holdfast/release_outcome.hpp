#pragma once

namespace holdfast {

/// How a release ended.
enum class release_outcome {
    released,    ///< a majority of nodes has deleted our key: the resource is free
    expired,     ///< it was not ours any more when asked for; nothing of others was touched
    unconfirmed, ///< too few nodes answered; deletion goes on in the background, at most for one
                 ///< ttl
};

} // namespace holdfast
