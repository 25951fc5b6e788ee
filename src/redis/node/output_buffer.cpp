#include "redis/node/output_buffer.hpp"

#include <cassert>

namespace holdfast::redis {

namespace {

// Bytes that have been sent are removed when there are so many of them, and more than of the
// others. So no byte is moved more than once on average.
constexpr std::size_t worth_a_move = 64 * 1024;

} // namespace

void output_buffer::take(std::size_t n)
{
    assert(n <= size());
    begin_ += n;
    if (begin_ == bytes_.size()) {
        if (bytes_.capacity() > most_kept)
            std::string().swap(bytes_); // a burst of renewals is over
        clear();
    } else if (begin_ > bytes_.size() / 2 && begin_ > worth_a_move) {
        bytes_.erase(0, begin_);
        begin_ = 0;
    }
}

void output_buffer::clear() noexcept
{
    bytes_.clear();
    begin_ = 0;
}

} // namespace holdfast::redis
