#pragma once

#include "resp/reply_builder.hpp"
#include "resp/stream_buffer.hpp"
#include "resp/value.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::resp {

// Limits on the cost of a reply. Checked against the sizes that the node declares, before memory is
// allocated.
struct reader_limits {
    std::size_t line = 64 * 1024;   // bytes of a line with its type byte, without its CRLF
    std::size_t blob = 64 * 1024;   // bytes of a blob string
    std::size_t elements = 1024;    // values of a whole reply, aggregates and attributes included
    std::size_t depth = 8;          // of nested aggregates and attributes
    std::size_t reply = 256 * 1024; // bytes of a whole reply
};

// Parses a stream of bytes, which may arrive in pieces of any size, into replies of RESP2 and
// RESP3.
//
// Resumes where it stopped and never reads a byte of a line twice, so the work is linear in the
// bytes even if they arrive one at a time. Accepts only the servers' own format of each number, and
// refuses unknown input. Attributes are read, counted against the limits and dropped.
//
// A moved-from reader can only be destroyed or assigned to.
class reader {
public:
    enum class status : std::uint8_t { need_more, reply, broken };

    explicit reader(reader_limits limits = {});
    reader(reader&&) = default;
    reader& operator=(reader&&) = default;

    // Space for at least `at_least` bytes at the end of the buffer, to read into.
    std::span<char> prepare(std::size_t at_least);

    // Accepts the first `n` bytes of that space. Precondition: `n` is not larger than the space.
    // Bytes after a protocol error are dropped, so a broken stream costs no memory.
    void commit(std::size_t n);

    // prepare(), copy, commit().
    void feed(std::string_view bytes);

    // Advances to the next whole reply. Once broken, the reader stays broken until reset().
    status next();

    // The reply that next() has just reported; element 0 is the top-level value. Empty at any other
    // time. Valid until the next call of a non-const member.
    std::span<const value> reply() const
    {
        return whole_ ? builder_.values() : std::span<const value>();
    }

    // The reason for `broken`, as a fragment of a sentence without data from the wire; else empty.
    std::string_view problem() const { return problem_; }

    // Resets all state except the limits, and keeps the memory.
    void reset();

    // The number of bytes scanned one by one, or moved, since construction. Tests use it to show
    // that the work is linear.
    std::uint64_t bytes_handled() const { return bytes_.bytes_handled(); }

private:
    enum class step : std::uint8_t { wait, proceed, whole, broken };

    bool read_common_reply();
    status deliver();
    step read_line();
    step read_blob();
    step accept_line(char type, std::string_view line);
    step accept_length(char type, std::string_view line);
    step begin_blob(char type, std::uint64_t size);
    step begin_aggregate(char type, std::uint64_t declared);
    step add(value_kind kind, std::string_view text = {}, std::int64_t integer = 0);
    step fail(std::string_view why);
    void start_reply();

    reader_limits limits_;
    stream_buffer bytes_;
    std::size_t blob_size_ = 0;
    char blob_type_ = 0; // zero while no content of a blob is expected
    bool whole_ = false; // the values are a whole reply, not a part of one
    reply_builder builder_;
    std::string_view problem_;
};

} // namespace holdfast::resp
