#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::etcd_store {

// Bytes that a connection has to send, in order.
class outgoing {
public:
    // More is added at the end of it.
    std::string& text() noexcept { return text_; }
    std::string_view unsent() const noexcept { return std::string_view(text_).substr(sent_); }
    void sent(std::size_t n) noexcept
    {
        sent_ += n;
        if (sent_ == text_.size())
            clear();
    }
    void clear() noexcept
    {
        text_.clear();
        sent_ = 0;
    }

private:
    std::string text_;
    std::size_t sent_ = 0;
};

} // namespace holdfast::etcd_store
