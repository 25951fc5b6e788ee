#pragma once

#include "core/owner_token.hpp"
#include "verification/simulation/dice.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast::simulation {

// Random bits that the seed determines.
class seeded_entropy final : public core::entropy {
public:
    explicit seeded_entropy(std::uint64_t seed) : source_(seed) {}

    bool fill(std::span<std::byte> out) noexcept override
    {
        for (std::byte& b : out)
            b = static_cast<std::byte>(source_.bits());
        return true;
    }

private:
    dice source_;
};

} // namespace holdfast::simulation
