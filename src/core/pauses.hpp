#pragma once

#include "core/backoff.hpp"
#include "core/time.hpp"

#include <holdfast/error.hpp>

#include <cstdint>

namespace holdfast::core {

// The random pauses of a locker between its attempts. They spread the clients of a resource.
class pauses {
public:
    pauses(duration shortest, duration longest, std::uint64_t seed) noexcept
        : shortest_(shortest),
          longest_(longest),
          random_(seed)
    {}

    // After the `failures`-th failure in a row. `held_up`: how long the failed attempt has kept
    // others out, or may have.
    duration after_failure(unsigned failures, errc reason, duration held_up) noexcept;
    // After a refused attempt that finds no room in the backend's queues.
    duration without_room() noexcept;
    // After local holders have used up their turns: enough for clients that poll as often.
    duration after_turns() noexcept { return random_.between(shortest_ / 2, shortest_); }
    // After the instant at which a resource becomes free, which others wait for too.
    duration after_free() noexcept { return random_.between(duration(0), shortest_); }

private:
    duration shortest_, longest_;
    jitter random_;
};

} // namespace holdfast::core
