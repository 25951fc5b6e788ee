#pragma once

#include "redis/claim/claim.hpp"

#include <holdfast/error.hpp>

#include <cstdint>

namespace holdfast::redis {

// The result of the votes of an attempt.
struct attempt_outcome {
    enum class kind : std::uint8_t { open, granted, refused };
    kind is = kind::open;
    errc reason{};
    bool transient = false; // the reason goes away with time
    core::time_point valid_until{};
};

attempt_outcome judge_attempt(const claim& c, core::time_point now);
// Why it has no majority, if it were given up now.
attempt_outcome why_unreachable(const claim& c) noexcept;

} // namespace holdfast::redis
