#pragma once

#include "core/connection.hpp"
#include "core/time.hpp"

#include <holdfast/error.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace holdfast::core {

// What a descriptor is ready for, or waits for.
enum class readiness : std::uint8_t { none = 0, readable = 1, writable = 2, both = 3 };

constexpr readiness operator|(readiness a, readiness b) noexcept
{
    return static_cast<readiness>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool includes(readiness all, readiness part) noexcept
{
    return (static_cast<unsigned>(all) & static_cast<unsigned>(part)) != 0;
}

// The interface between the I/O layer and a client library that opens, reads, writes and closes its
// socket itself, as libpq does. The I/O layer looks names up and waits for the socket; all else is
// the library's. Timeouts are the backend's: see backend_core::wake_at().
class descriptor {
public:
    virtual ~descriptor() = default;

    virtual const address& target() const noexcept = 0;

    // Whether the library should be connected now. The I/O layer calls open() or closed().
    virtual bool wants_open() const noexcept = 0;
    // The library begins to connect. `addresses`: of the target's host, in text; libraries look
    // names up with blocking calls, so the I/O layer does it. Empty for a unix socket.
    virtual void open(std::span<const std::string> addresses, time_point now) = 0;
    // The name could not be looked up, the socket could not be waited for, or `wants_open()` has
    // become false. The library closes its socket. `wants_open()` is false then, until a later
    // wake() of the backend.
    virtual void closed(error_code why, time_point now) = 0;

    // The library's socket; -1 if it has none.
    virtual int handle() const noexcept = 0;
    // Has another value whenever handle() may mean another socket: a library may replace its socket
    // by one with the same number.
    virtual std::uint64_t incarnation() const noexcept = 0;

    // What the library waits for.
    virtual readiness wants() const noexcept = 0;
    // The socket is ready. If it is readable, the library reads, in general until there is nothing
    // more. An error of the socket is reported as `both`: the library finds it.
    virtual void ready(readiness what, time_point now) = 0;

    // Whether flush() has something to do. Called at the end of a turn of the event loop: all
    // requests of the turn go out together.
    virtual bool has_output() const noexcept = 0;
    virtual void flush(time_point now) = 0;
};

} // namespace holdfast::core
