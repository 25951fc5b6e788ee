#pragma once

#include "core/owner_token.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::io {

// Random bits of the operating system, fetched in blocks. After a fork, the child does not use bits
// that the parent has fetched.
class os_entropy final : public core::entropy {
public:
    bool fill(std::span<std::byte> out) noexcept override;
    // For jitter. Throws `std::system_error`.
    std::uint64_t seed();

private:
    std::array<std::byte, 256> fetched_{};
    std::size_t left_ = 0;
    unsigned process_ = 0;
};

} // namespace holdfast::io
