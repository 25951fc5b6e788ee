#include "redis/node/output_buffer.hpp"

namespace holdfast::redis {

namespace {

// Bytes that have been sent are removed when there are so many of them, and more than of the
// others. So no byte is moved more than once on average.
constexpr std::size_t worth_a_move = 64 * 1024;

} // namespace

void output_buffer::tidy_up()
{
    if (begin_ == bytes_.size()) {
        std::string().swap(bytes_); // a burst of renewals is over
        begin_ = 0;
    } else if (begin_ > bytes_.size() / 2 && begin_ > worth_a_move) {
        bytes_.erase(0, begin_);
        begin_ = 0;
    }
}

} // namespace holdfast::redis
