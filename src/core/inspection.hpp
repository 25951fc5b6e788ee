#pragma once

#include "core/time.hpp"

#include <holdfast/error.hpp>
#include <holdfast/inspect.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace holdfast::core {

// The process behind a locker, as the I/O layer knows it.
struct client_identity {
    std::string host, program;
    std::uint32_t pid = 0;
    std::int64_t started = 0; // of the locker, in seconds since the epoch
};

enum class inspection_task : std::uint8_t { inspect, list, force_release };

struct inspection_request {
    inspection_task task{};
    std::uint64_t tag = 0;   // of the result
    std::string_view name{}; // a resource, or the prefix of a list
    std::int64_t wall = 0;   // the time, in seconds since the epoch
};

// A report, or none of these values matters beside `reason`: see locker::inspect() and so on. The
// alternative is that of the task.
struct inspection_result {
    std::uint64_t tag = 0;
    errc reason{};
    std::variant<resource_report, lock_list, forced_release> found;
};

// What a backend can tell people about its locks, beside locking: an optional part of the seam.
// Pure, like the backend: results are fetched, and time comes with the calls. The backend's
// wake_at() and wake() serve it as well.
class inspector {
public:
    // Tells others who this is, from now on until the backend winds up.
    virtual void introduce(const client_identity& self, time_point now) = 0;

    // Identifies this locker in the tokens of its attempts; 0: not at all. May change.
    virtual std::uint32_t client_id() const noexcept = 0;

    // A result follows in bounded time.
    virtual void begin(const inspection_request& request, time_point now) = 0;
    // The result is not wanted any more: none follows.
    virtual void forget(std::uint64_t tag) = 0;
    virtual std::optional<inspection_result> next_result() = 0;

protected:
    ~inspector() = default;
};

} // namespace holdfast::core
