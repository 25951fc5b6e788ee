#pragma once

#include "core/owner_token.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace holdfast::test {

/// Constant bits in place of random ones, for cores that run without io.
struct some_bits final : core::entropy {
    bool fill(std::span<std::byte> out) noexcept override
    {
        std::fill(out.begin(), out.end(), std::byte{7});
        return true;
    }
};

} // namespace holdfast::test
