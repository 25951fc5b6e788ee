#pragma once

#include "resp/reply_builder.hpp"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::resp {

// The bytes of a stream, from the begin of the reply that is being read. Finds the ends of lines,
// and scans no byte of a line twice.
class stream_buffer {
public:
    // What was found where a line is expected.
    enum class line : std::uint8_t {
        whole,
        incomplete,
        too_long,
        without_return, // a line feed comes first
        without_feed    // something else comes after the carriage return
    };

    // Space for at least `at_least` bytes after those that have arrived. May move the bytes of the
    // reply; then `texts`, which refer to them, are updated.
    std::span<char> prepare(std::size_t at_least, reply_builder& texts);

    // Accepts the first `n` bytes of that space.
    void commit(std::size_t n) noexcept
    {
        assert(n <= buffer_.size() - end_);
        end_ += n;
    }

    // The bytes that have arrived and were not taken. Valid until prepare().
    std::string_view rest() const noexcept { return {buffer_.data() + at_, end_ - at_}; }
    bool has_rest() const noexcept { return at_ != end_; }

    // The number of bytes of the reply that were taken.
    std::size_t taken() const noexcept { return at_ - begin_; }
    void take(std::size_t n) noexcept { at_ += n; }

    // Takes a line of at most `longest` bytes. `found`: the line without its end, if it is whole.
    // The result does not depend on how much has arrived after the line. Precondition: has_rest().
    line take_line(std::size_t longest, std::string_view& found);

    // The bytes that were taken are no longer needed. The next reply begins here.
    void begin_reply() noexcept { begin_ = scanned_ = at_; }

    // Drops all bytes, and keeps the memory.
    void clear() noexcept { begin_ = at_ = scanned_ = end_ = 0; }

    // The number of bytes scanned one by one, or moved, since construction.
    std::uint64_t bytes_handled() const noexcept { return bytes_handled_; }

private:
    void move_reply(char* to, reply_builder& texts);

    std::vector<char> buffer_; // its size is the allocated size
    std::size_t begin_ = 0;
    std::size_t at_ = 0;
    std::size_t scanned_ = 0; // the part of a line before this has no line end
    std::size_t end_ = 0;
    std::uint64_t bytes_handled_ = 0;
};

} // namespace holdfast::resp
