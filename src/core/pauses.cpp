#include "core/pauses.hpp"

#include <algorithm>

namespace holdfast::core {

namespace {

// The limit of a pause, as a multiple of the duration of the refused attempt.
constexpr int longest_pause_in_attempts = 8;

constexpr duration crowded = std::chrono::seconds(1);

} // namespace

// A failing attempt keeps others out while it lasts. If a node is slow, that is long. With pauses
// that are short in comparison, several clients could block each other for ever.
duration pauses::after_failure(unsigned failures, errc reason, duration held_up) noexcept
{
    if (reason != errc::contended)
        held_up = duration(0);
    return backoff(failures, std::max(shortest_, held_up),
        std::max(longest_, held_up * longest_pause_in_attempts), random_);
}

duration pauses::without_room() noexcept
{
    return random_.between(crowded / 2, crowded);
}

} // namespace holdfast::core
