#include "redis/node/push_allowance.hpp"

#include <algorithm>

namespace holdfast::redis {

namespace {

// Hand-offs and invalidations have four values; their text is a little longer than a key.
constexpr std::size_t values_of_one = 16, bytes_of_one = 1024;

std::int64_t cost_of(reply push) noexcept
{
    std::size_t bytes = 0;
    for (const resp::value& v : push)
        bytes += v.text.size();
    return static_cast<std::int64_t>(1 + push.size() / values_of_one + bytes / bytes_of_one);
}

} // namespace

void push_allowance::reset(core::time_point now) noexcept
{
    left_ = at_first;
    earned_until_ = now;
}

bool push_allowance::spend(reply push, core::time_point now) noexcept
{
    if (const auto earned = (now - earned_until_) / for_each; earned > 0) {
        add(earned);
        earned_until_ += earned * for_each;
    }
    left_ -= cost_of(push);
    return left_ >= 0;
}

void push_allowance::add(std::int64_t more) noexcept
{
    left_ = std::min(most, left_ + std::min(more, most));
}

} // namespace holdfast::redis
