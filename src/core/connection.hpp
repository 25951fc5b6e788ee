#pragma once

#include "core/address.hpp"
#include "core/time.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::core {

// The interface between the I/O layer and a protocol that runs over one byte stream: bytes in,
// bytes out, and whether the stream should be open. The protocol decides; the I/O layer performs.
class connection {
public:
    virtual ~connection() = default;

    // May change while the stream is closed and wants_open() is false.
    virtual const address& target() const noexcept = 0;

    // Whether the stream should be open now. The I/O layer opens and closes it and reports.
    virtual bool wants_open() const noexcept = 0;
    // The deadline for opening it. After that `wants_open()` is false for a while.
    virtual time_point opening_ends() const noexcept { return never; }

    // Called only while wants_open() is true.
    virtual void opened(time_point now) = 0;
    // The stream could not be opened, broke, or was closed because `wants_open()` said so.
    virtual void closed(error_code why, time_point now) = 0;

    // The space for the next bytes that arrive; never empty.
    virtual std::span<char> read_space() = 0;
    // `n` bytes have arrived in that space.
    virtual void received(std::size_t n, time_point now) = 0;

    // How many bytes there are to send, roughly; 0 if there are none.
    virtual std::size_t unsent() const noexcept { return output().size(); }
    // All that has gathered is to be sent now. Called before output().
    virtual void prepare_output() {}
    // The bytes to send, in order.
    virtual std::string_view output() const noexcept = 0;
    // The stream has taken the first `n` bytes of the output. `now`: just before it took them.
    virtual void written(std::size_t n, time_point now) = 0;
};

} // namespace holdfast::core
