// The reply reader. Its results do not depend on how the bytes are split, it keeps the limits, and
// its memory and work are bounded by the number of bytes that arrived.
#include "resp/reader.hpp"

#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "fuzz/replies.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

namespace {
std::size_t largest_allocation = 0; // since it was last set to 0
} // namespace

void* operator new(std::size_t size)
{
    largest_allocation = std::max(largest_allocation, size);
    if (void* const memory = std::malloc(std::max<std::size_t>(size, 1)))
        return memory;
    throw std::bad_alloc();
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept
{
    return std::malloc(std::max<std::size_t>(size, 1));
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}

namespace {

using namespace holdfast::fuzz;
using holdfast::resp::reader;
using holdfast::resp::reader_limits;
using holdfast::resp::value;
using holdfast::resp::value_kind;
using status = reader::status;

reader_limits choose_limits(input& in)
{
    switch (in.below(3)) {
    case 0:
        return {};
    case 1:
        return {.line = 30, .blob = 40, .elements = 12, .depth = 3, .reply = 90};
    default:
        return {.line = in.byte(),
            .blob = in.byte(),
            .elements = in.byte(),
            .depth = in.below(16),
            .reply = in.wide()};
    }
}

// Returns the end of the value that starts at `at`, and checks the promises of the header.
std::size_t check_value(
    std::span<const value> reply, std::size_t at, std::size_t depth, const reader_limits& limits)
{
    check(at < reply.size(), "an aggregate has its declared number of elements");
    const value& v = reply[at++];
    const bool is_line = v.kind == value_kind::simple_string || v.kind == value_kind::real;
    check(v.text.size() <= (is_line ? limits.line : std::max(limits.line, limits.blob)),
        "a text is within its limit");
    if (v.kind < value_kind::array)
        return at;
    check(depth < limits.depth, "nesting is within its limit");
    check(v.kind != value_kind::push || depth == 0, "a push is not part of another value");
    check(v.kind != value_kind::map || v.count % 2 == 0, "a map consists of pairs");
    for (std::uint32_t i = 0; i < v.count; ++i)
        at = check_value(reply, at, depth + 1, limits);
    return at;
}

void check_reply(std::span<const value> reply, const reader_limits& limits)
{
    check(check_value(reply, 0, 0, limits) == reply.size(), "a reply is one value");
    check(reply.size() <= std::max<std::size_t>(limits.elements, 1), "a reply is within its limit");
    std::size_t bytes = 0;
    for (const value& v : reply)
        bytes += v.text.size();
    check(bytes <= limits.reply, "the texts of a reply are within its limit of bytes");
}

// Feeds the bytes in pieces that end at the cuts, and returns a description of the results.
std::string read(
    reader& r, std::string_view bytes, const std::vector<std::size_t>& cuts, reader_limits limits)
{
    std::string all;
    std::size_t from = 0;
    for (std::size_t i = 0; i <= cuts.size(); ++i) {
        const std::size_t to = i < cuts.size() ? cuts[i] : bytes.size();
        largest_allocation = 0;
        const std::uint64_t handled = r.bytes_handled();
        r.feed(bytes.substr(from, to - from));
        check(largest_allocation <= 4096 + 4 * to, "the memory is proportional to the bytes");
        from = to;
        for (status s = r.next(); s != status::need_more; s = r.next()) {
            // A value takes at least three bytes, and the memory for values doubles.
            check(largest_allocation <= 4096 + 32 * to, "a declared size allocates no memory");
            if (s == status::broken) {
                check(!r.problem().empty() && r.reply().empty(), "a broken reader has a reason");
                check(r.next() == status::broken, "a broken reader stays broken");
                return all + "broken: " + std::string(r.problem());
            }
            check_reply(r.reply(), limits);
            describe(all, r.reply());
            all += '\n';
            largest_allocation = 0;
        }
        check(r.reply().empty(), "there is no reply while it is incomplete");
        check(r.bytes_handled() - handled <= 4 * bytes.size(), "no piece is read repeatedly");
    }
    return all;
}

std::vector<std::size_t> choose_cuts(input& in)
{
    std::vector<std::size_t> cuts(in.below(8));
    for (std::size_t& cut : cuts)
        cut = in.wide();
    return cuts;
}

std::vector<std::size_t> all_cuts(std::size_t size)
{
    std::vector<std::size_t> cuts;
    for (std::size_t i = 1; i < size; ++i)
        cuts.push_back(i);
    return cuts;
}

// Sometimes a long string, alone or as the start of an array, so that the reader reaches the end of
// its buffer in the middle of a reply.
std::string choose_start(input& in)
{
    const std::size_t choice = in.below(8);
    if (choice < 6)
        return {};
    return (choice == 6 ? "*9\r\n+first\r\n" : "") + blob(std::string(4000 + in.byte(), 'x'));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    input in(data, size);
    const reader_limits limits = choose_limits(in);
    std::vector<std::size_t> cuts = choose_cuts(in);
    std::string bytes = choose_start(in);
    bytes += in.rest();
    for (std::size_t& cut : cuts)
        cut %= bytes.size() + 1;
    std::sort(cuts.begin(), cuts.end());

    reader at_once(limits), in_pieces(limits), one_by_one(limits);
    const std::string whole = read(at_once, bytes, {}, limits);
    check(
        read(in_pieces, bytes, cuts, limits) == whole, "pieces give the same result as the whole");
    check(read(one_by_one, bytes, all_cuts(bytes.size()), limits) == whole,
        "single bytes give the same result as the whole");
    check(one_by_one.bytes_handled() <= 4 * bytes.size(), "the work is linear in the bytes");

    in_pieces.reset();
    check(read(in_pieces, bytes, {}, limits) == whole, "a reset reader works like a new one");
    return 0;
}
