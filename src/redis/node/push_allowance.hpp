#pragma once

#include "core/time.hpp"
#include "redis/node/reply.hpp"

#include <cstdint>

namespace holdfast::redis {

// How much a node may push on one connection, so that it cannot keep a core busy. A push costs 1, a
// long one more.
//
// The pushes of a correct node follow from requests of ours, and most lead to another request: a
// hand-off follows a place in a queue, and is confirmed; an invalidation follows a question about
// one key, and leads to another. So each answer earns two pushes, however many thousand answers
// there are in a second. In addition there is an allowance for pushes that others cause: 1,000 a
// second, and 4,096 at once. The savings are limited, so that a node that was correct for a day
// cannot flood us for an hour.
class push_allowance {
public:
    void reset(core::time_point now) noexcept;
    void answered() noexcept { add(per_answer); }

    // False: it has pushed too much.
    bool spend(reply push, core::time_point now) noexcept;

    static constexpr std::int64_t at_first = 4'096, most = 65'536, per_answer = 2;
    static constexpr core::duration for_each = std::chrono::milliseconds(1);

private:
    void add(std::int64_t more) noexcept;

    std::int64_t left_ = at_first;
    core::time_point earned_until_{};
};

} // namespace holdfast::redis
