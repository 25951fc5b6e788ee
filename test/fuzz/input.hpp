#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::fuzz {

// The bytes of one run, consumed from the front as choices. When they are used up, every choice is
// the first one. (GCC does not have Clang's FuzzedDataProvider.h.)
class input {
public:
    input(const std::uint8_t* data, std::size_t size) noexcept
        : left_(reinterpret_cast<const char*>(data), size)
    {}

    bool empty() const noexcept { return left_.empty(); }
    std::size_t size() const noexcept { return left_.size(); }

    std::uint8_t byte() noexcept
    {
        if (left_.empty())
            return 0;
        const auto first = static_cast<std::uint8_t>(left_.front());
        left_.remove_prefix(1);
        return first;
    }

    bool flag() noexcept { return (byte() & 1) != 0; }

    // In [0, limit). Precondition: 1 <= limit <= 256.
    std::size_t below(std::size_t limit) noexcept { return byte() % limit; }

    std::size_t wide() noexcept
    {
        const std::size_t high = byte();
        return high << 8 | byte();
    }

    template <class T, std::size_t Size>
    const T& one_of(const T (&choices)[Size]) noexcept
    {
        return choices[below(Size)];
    }

    std::string_view text(std::size_t at_most) noexcept
    {
        const std::string_view taken = left_.substr(0, at_most);
        left_.remove_prefix(taken.size());
        return taken;
    }

    std::string_view rest() noexcept { return text(left_.size()); }

private:
    std::string_view left_;
};

} // namespace holdfast::fuzz
