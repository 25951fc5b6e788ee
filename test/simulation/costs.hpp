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

// What a node's single thread spends on what it is asked. Zero: it answers in no time.
struct node_costs {
    nanoseconds command{0}, kilobyte{0};
    std::size_t reads_at_once = unlimited; // bytes of one connection, before it looks at the next

    static constexpr int of_script = 4; // as much as so many commands

    nanoseconds of_bytes(std::size_t n) const noexcept
    {
        return kilobyte * static_cast<std::int64_t>(n) / 1024;
    }
};

// What a client's event loop spends. Zero: it does unlimited in no time.
struct process_costs {
    nanoseconds operation{0}; // a call of a user, or the end of one
    nanoseconds attempt{0};   // to get a lock, whether anybody is asked or not
    nanoseconds command{0};   // encoded
    nanoseconds line{0};      // of a reply; a simple reply is one
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
