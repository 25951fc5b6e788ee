#pragma once

#include "core/time.hpp"
#include "redis/reply.hpp"

#include <cstdint>

namespace holdfast::redis {

// How much a node may say on one connection without being asked, so that it cannot keep a core
// busy. A push costs 1, a long one more.
//
// What a good node pushes follows from requests of ours, and most pushes lead to one: a hand-over
// answers a place in a queue, and is confirmed; an invalidation answers a question about one key,
// and leads to another. So each answer earns two, however many thousands of them there are in a
// second. Beside that there is something for what others cause: 1,000 a second, and 4,096 at once.
// What is saved up is limited, lest a node that was good for a day may be bad for an hour.
class push_allowance {
public:
    void reset(core::time_point now) noexcept;
    void answered() noexcept { add(per_answer); }

    // False: it has said too much.
    bool spend(reply push, core::time_point now) noexcept;

    static constexpr std::int64_t at_first = 4'096, most = 65'536, per_answer = 2;
    static constexpr core::duration for_each = std::chrono::milliseconds(1);

private:
    void add(std::int64_t more) noexcept;

    std::int64_t left_ = at_first;
    core::time_point earned_until_{};
};

} // namespace holdfast::redis
