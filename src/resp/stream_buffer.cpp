#include "resp/stream_buffer.hpp"

#include <algorithm>

namespace holdfast::resp {

namespace {

constexpr std::size_t first_allocation = 4096;

} // namespace

std::span<char> stream_buffer::prepare(std::size_t at_least, reply_builder& texts)
{
    if (begin_ == end_)
        clear();

    if (buffer_.size() - end_ < at_least) {
        const std::size_t kept = end_ - begin_;
        if (kept <= begin_ && buffer_.size() - kept >= at_least) {
            // Amortised: at least as many bytes were consumed since the last move as are moved.
            move_reply(buffer_.data(), texts);
        } else {
            std::vector<char> larger(
                std::max({kept + at_least, 2 * buffer_.size(), first_allocation}));
            move_reply(larger.data(), texts);
            buffer_.swap(larger);
        }
    }
    return std::span(buffer_).subspan(end_);
}

void stream_buffer::move_reply(char* to, reply_builder& texts)
{
    texts.move_texts(buffer_.data() + begin_, to);
    std::copy(buffer_.data() + begin_, buffer_.data() + end_, to);
    bytes_handled_ += end_ - begin_;
    at_ -= begin_;
    scanned_ -= begin_;
    end_ -= begin_;
    begin_ = 0;
}

stream_buffer::line stream_buffer::take_line(std::size_t longest, std::string_view& found)
{
    const std::size_t stop = at_ + std::min(end_ - at_, longest + 1);
    const std::size_t start = std::max(scanned_, at_ + 1);
    std::size_t here = start;
    while (here < stop && buffer_[here] != '\r' && buffer_[here] != '\n')
        ++here;
    bytes_handled_ += here - start;
    scanned_ = here;

    if (here >= stop)
        return stop - at_ <= longest ? line::incomplete : line::too_long;
    if (buffer_[here] == '\n')
        return line::without_return;
    if (here + 1 == end_)
        return line::incomplete;
    if (buffer_[here + 1] != '\n')
        return line::without_feed;
    found = {buffer_.data() + at_, here - at_};
    at_ = here + 2;
    return line::whole;
}

} // namespace holdfast::resp
