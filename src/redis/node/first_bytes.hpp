#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::redis {

// The first bytes that arrive on a connection: enough to recognise common servers of other
// protocols at a wrong port.
class first_bytes {
public:
    void clear() noexcept { bytes_.clear(); }
    void add(std::string_view arrived);
    bool empty() const noexcept { return bytes_.empty(); }
    // Whether no more bytes are needed.
    bool complete() const noexcept { return bytes_.size() == enough; }

    // What is wrong, in words for people; empty if nothing is known to be wrong.
    std::string_view objection() const noexcept;

private:
    static constexpr std::size_t enough = 5; // for the longest, `HTTP/`

    std::string bytes_;
};

} // namespace holdfast::redis
