#pragma once

#include <string>
#include <string_view>

namespace holdfast::redis {

// The first bytes that come over a connection: enough to tell servers that are none of ours and are
// found at a wrong port.
class first_bytes {
public:
    void clear() noexcept { bytes_.clear(); }
    void add(std::string_view arrived);

    // What is wrong, for people to read; empty if nothing is known to be.
    std::string_view objection() const noexcept;

private:
    std::string bytes_;
};

} // namespace holdfast::redis
