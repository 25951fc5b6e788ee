#pragma once

#include <cstdint>

namespace holdfast::model {

// Packs fields side by side; the unpacker takes them in the same order.
class packer {
public:
    void put(std::uint64_t value, unsigned bits) noexcept
    {
        all_ |= value << at_;
        at_ += bits;
    }
    std::uint32_t low() const noexcept { return static_cast<std::uint32_t>(all_); }
    std::uint32_t high() const noexcept { return static_cast<std::uint32_t>(all_ >> 32); }

private:
    std::uint64_t all_ = 0;
    unsigned at_ = 0;
};

class unpacker {
public:
    unpacker(std::uint32_t low, std::uint32_t high) noexcept : all_(std::uint64_t{high} << 32 | low)
    {}

    template <class Field>
    void take(Field& field, unsigned bits) noexcept
    {
        field = static_cast<Field>(all_ & ((std::uint64_t{1} << bits) - 1));
        all_ >>= bits;
    }

private:
    std::uint64_t all_;
};

} // namespace holdfast::model
