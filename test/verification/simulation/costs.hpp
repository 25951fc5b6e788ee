#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace holdfast::simulation {

using nanoseconds = std::chrono::nanoseconds;

inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

// The time that a node's single thread spends on requests. Zero: it answers in no time.
struct node_costs {
    nanoseconds command{0}, kilobyte{0};
    std::size_t reads_at_once = unlimited; // bytes of one connection before the next one's turn

    static constexpr int of_script = 4; // a script costs as much as this many commands

    nanoseconds of_bytes(std::size_t n) const noexcept
    {
        return kilobyte * static_cast<std::int64_t>(n) / 1024;
    }
};

// The time that a client's event loop spends. Zero: it does everything in no time.
struct process_costs {
    nanoseconds operation{0}; // a call by a user, or its completion
    nanoseconds attempt{0};   // to get a lock, whether a node is asked or not
    nanoseconds command{0};   // to encode one
    nanoseconds line{0};      // of a reply; a simple reply is one line
    nanoseconds kilobyte{0};  // written or read
    std::size_t reads_at_once = unlimited;

    bool none() const noexcept
    {
        return operation + attempt + command + line + kilobyte == nanoseconds(0);
    }

    nanoseconds of_output(std::string_view commands) const noexcept
    {
        std::int64_t count = 0;
        for (std::size_t i = 0; i < commands.size(); ++i)
            count += commands[i] == '*' && (i == 0 || commands[i - 1] == '\n') ? 1 : 0;
        return command * count + of_bytes(commands.size());
    }
    nanoseconds of_input(std::string_view replies) const noexcept
    {
        return line * std::count(replies.begin(), replies.end(), '\n') + of_bytes(replies.size());
    }

private:
    nanoseconds of_bytes(std::size_t n) const noexcept
    {
        return kilobyte * static_cast<std::int64_t>(n) / 1024;
    }
};

} // namespace holdfast::simulation
