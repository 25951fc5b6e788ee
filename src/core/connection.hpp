#pragma once

#include "core/time.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::core {

// Where a connection leads. Exactly one of `host` and `path` is set.
struct address {
    std::string host;
    std::uint16_t port = 0;
    std::string path; // of a unix socket
};

// What a shell needs to see of a protocol that runs over one byte stream: bytes in, bytes out, and
// whether the stream should be open. It decides; the shell performs.
class connection {
public:
    virtual ~connection() = default;

    virtual const address& target() const noexcept = 0;

    // Whether there should be a stream now. The shell opens and closes accordingly and reports.
    virtual bool wants_open() const noexcept = 0;
    // Until when it can be opened; after that it is not wanted open any more, for the time being.
    virtual time_point opening_ends() const noexcept { return never; }

    virtual void opened(time_point now) = 0;
    // The stream could not be opened, broke, or was closed because `wants_open()` said so.
    virtual void closed(error_code why, time_point now) = 0;

    // Where to put the next bytes that arrive, never empty, and that `n` of them have arrived.
    virtual std::span<char> read_space() = 0;
    virtual void received(std::size_t n, time_point now) = 0;

    // What is to be sent, in order; and that the stream has taken the first `n` bytes of it. `now`:
    // just before it took them.
    virtual std::string_view output() const noexcept = 0;
    virtual void written(std::size_t n, time_point now) = 0;
};

} // namespace holdfast::core
