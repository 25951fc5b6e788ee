#pragma once

#include "redis/queue/contention_hints.hpp"
#include "redis/queue/polling_windows.hpp"

namespace holdfast::redis {

// What this process assumes about resources that it has used lately. Safety never depends on it.
struct resource_hints {
    contention_hints contention;
    polling_windows windows;

    // The resource was free, or had no waiters when it was released.
    void note_free(std::uint64_t resource_hash, core::time_point now) noexcept
    {
        contention.note_free(resource_hash, now);
        windows.note_free(resource_hash);
    }
};

} // namespace holdfast::redis
