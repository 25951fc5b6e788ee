#pragma once

#include <holdfast/options.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace contention {

/// The user's settings.
struct settings {
    std::vector<std::string> parts{"local", "memory", "processes", "crowd"};
    std::size_t nodes = 5;
    int repetitions = 3;
    std::chrono::seconds limit{60}; // of each wait; a longer wait counts as not finished
    std::chrono::microseconds think{0}, hold{0};
    bool lock = true;
    bool fenced = false; // processes and crowd: with fencing tokens
    std::string json;

    // local and memory
    std::size_t waiters = 10'000;
    std::size_t rounds = 1; // of each waiter, also in a crowd
    bool reverse = false;   // local: the order of the ways
    std::size_t handoff_limit = 1'000'000;
    std::chrono::milliseconds handoff_time{9'000};

    // processes
    std::vector<std::size_t> processes{1, 2, 4, 8, 16};
    std::chrono::milliseconds length{1'000}, alone_length{500};

    // crowd
    std::size_t crowd_processes = 4;
    std::size_t coroutines = 2'500;
};

/// The limits of local transfers; empty: the library's default.
struct budget {
    std::optional<std::size_t> handoffs{};
    std::optional<std::chrono::milliseconds> time{};

    holdfast::lock_options options(std::chrono::seconds wait) const
    {
        holdfast::lock_options all;
        all.wait = wait;
        if (handoffs)
            all.handoff_limit = *handoffs;
        if (time)
            all.handoff_time = *time;
        return all;
    }
};

/// The settings of one contending process.
struct contender_settings {
    std::vector<std::string> nodes; // none: without a lock
    std::string resource = "contention:one";
    std::size_t coroutines = 1;
    std::size_t rounds = 0; // 0: repeated for `length_ms`
    std::size_t length_ms = 0;
    std::size_t think_us = 0, hold_us = 0;
    std::size_t limit_s = 60;
    bool fenced = false;
};

/// The settings of a process that measures memory.
struct parking_settings {
    std::vector<std::string> nodes;
    std::string what; // one of `parked`
    std::size_t count = 0;
};

/// "lease": coroutines that wait in `acquire()`; "channel", "timer": coroutines that wait for an
/// Asio channel or timer; "locks": lock objects with different names, never used; "used": the same,
/// acquired and released once, a hundred at a time, after other locks were used three hundred at a
/// time; "copies": copies of one lock.
inline constexpr const char* parked[] = {"lease", "channel", "timer", "locks", "used", "copies"};

} // namespace contention
