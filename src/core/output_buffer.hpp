#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::core {

// The bytes that are still to be sent, in order. Keeps its memory for the next bytes, but not that
// of a burst.
class output_buffer {
public:
    std::string_view bytes() const noexcept { return std::string_view(bytes_).substr(begin_); }
    std::size_t size() const noexcept { return bytes_.size() - begin_; }
    std::size_t capacity() const noexcept { return bytes_.capacity(); }

    void append(std::string_view more) { bytes_.append(more); }
    // The first `n` bytes have been sent.
    void take(std::size_t n)
    {
        begin_ += n;
        if (begin_ == bytes_.size() && bytes_.capacity() <= most_kept)
            clear();
        else
            tidy_up();
    }
    void clear() noexcept
    {
        bytes_.clear();
        begin_ = 0;
    }

    // The most memory that is kept when everything has been sent.
    static constexpr std::size_t most_kept = 256 * 1024;

private:
    // Bytes that have been sent are removed when there are so many of them, and more than of the
    // others. So no byte is moved more than once on average.
    static constexpr std::size_t worth_a_move = 64 * 1024;

    void tidy_up()
    {
        if (begin_ == bytes_.size()) {
            std::string().swap(bytes_); // a burst of renewals is over
            begin_ = 0;
        } else if (begin_ > bytes_.size() / 2 && begin_ > worth_a_move) {
            bytes_.erase(0, begin_);
            begin_ = 0;
        }
    }

    std::string bytes_;
    std::size_t begin_ = 0; // the bytes before have been sent; zero if all have
};

} // namespace holdfast::core
