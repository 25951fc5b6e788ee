#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::resp {

enum class value_kind : std::uint8_t {
    simple_string,
    blob_string,
    integer,
    real,
    boolean,
    null,
    error,
    array,
    map,
    set,
    push
};

// One value of a reply. Aggregates are flat: their elements follow in preorder.
struct value {
    value_kind kind = value_kind::null;
    std::uint32_t count = 0;  // of direct child elements of an aggregate (a map of n pairs has 2n)
    std::int64_t integer = 0; // of an integer; 0 or 1 of a boolean
    // Of strings and errors, and the digits of reals and big numbers (which are blob strings here).
    // A verbatim string comes without its "txt:".
    std::string_view text;
};

// What a reply may cost us. Checked against what the node declares, before memory is spent on it.
struct reader_limits {
    std::size_t line = 64 * 1024;   // bytes of a line with its type byte, without its CRLF
    std::size_t blob = 64 * 1024;   // bytes of a blob string
    std::size_t elements = 1024;    // values of a whole reply, aggregates and attributes included
    std::size_t depth = 8;          // of nested aggregates and attributes
    std::size_t reply = 256 * 1024; // bytes of a whole reply
};

// Turns bytes, as they arrive in whatever pieces, into replies of RESP2 and RESP3.
//
// Resumes where it stopped and never looks at a byte of a line twice, so the work is linear in the
// bytes even if they come one at a time. Accepts one spelling of each number, the servers' own, and
// refuses whatever it does not know. Attributes are read, counted against the limits and dropped.
//
// A moved-from reader can only be destroyed or assigned to.
class reader {
public:
    enum class status : std::uint8_t { need_more, reply, broken };

    explicit reader(reader_limits limits = {});
    reader(reader&&) = default;
    reader& operator=(reader&&) = default;

    // Room for at least `at_least` bytes at the end of the buffer, to be read into.
    std::span<char> prepare(std::size_t at_least);

    // Takes over the first `n` bytes of that room. Precondition: no more than there was room for.
    // Bytes after a problem are forgotten, so that a broken stream costs no memory.
    void commit(std::size_t n);

    // prepare(), copy, commit().
    void feed(std::string_view bytes);

    // Goes on to the next whole reply. Once broken, it stays broken until reset().
    status next();

    // The reply that next() has just announced; element 0 is the top-level value. Empty at any
    // other time. Valid until the next call of a non-const member.
    std::span<const value> reply() const;

    // Why it is broken, as a fragment of a sentence without any data from the wire; else empty.
    std::string_view problem() const { return problem_; }

    // Forgets everything but the limits, and keeps the memory.
    void reset();

    // Bytes looked at one by one, or moved, since construction: the tests prove with it that the
    // work is linear.
    std::uint64_t bytes_handled() const { return bytes_handled_; }

private:
    enum class step : std::uint8_t { wait, proceed, whole, broken };

    // An aggregate, or an attribute, some elements of which are still to come.
    struct open_aggregate {
        std::uint32_t missing;
        bool is_attribute;
        std::size_t first; // index into values_ of its first element
    };

    bool read_common_reply();
    status deliver();
    step read_line();
    step read_blob();
    step find_line_end(std::size_t& line_end);
    step accept_line(char type, std::string_view line);
    step accept_length(char type, std::string_view line);
    step begin_blob(char type, std::uint64_t size);
    step begin_aggregate(char type, std::uint64_t declared);
    step add(value_kind kind, std::string_view text = {}, std::int64_t integer = 0);
    step close_finished();
    step fail(std::string_view why);
    void start_reply();
    void relocate(char* to);

    reader_limits limits_;
    std::vector<char> buffer_; // its size is what is allocated; the bytes end at end_
    std::size_t begin_ = 0;    // of the reply being read
    std::size_t at_ = 0;      // the first byte not yet understood: a type byte, or a blob's content
    std::size_t scanned_ = 0; // the part of a line before this has no line end
    std::size_t end_ = 0;
    std::size_t blob_size_ = 0;
    char blob_type_ = 0;        // zero while no blob's content is awaited
    bool whole_ = false;        // values_ is a reply and not a part of one
    std::size_t announced_ = 1; // values of this reply that have come or must come
    std::vector<value> values_;
    std::vector<open_aggregate> open_;
    std::string_view problem_;
    std::uint64_t bytes_handled_ = 0;
};

} // namespace holdfast::resp
