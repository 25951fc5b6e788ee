#pragma once

#include "core/inspection.hpp"
#include "core/owner_token.hpp"
#include "core/time.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::core {

// Makes the owner tokens of a locker's attempts, with the stamp that people read.
class token_source {
public:
    // Both outlive it. `people`: has the id of this locker; null if it has none.
    token_source(entropy& random, const inspector* people) noexcept
        : random_(random),
          people_(people)
    {}

    // The wall clock when the lease clock was 0.
    void set_wall_clock(duration since_epoch) noexcept { wall_ = since_epoch; }

    // None if there are no random bits.
    std::optional<owner_token> next(time_point now) noexcept
    {
        const duration since_epoch = now.time_since_epoch() + wall_;
        return owner_token::make(
            random_, {static_cast<std::uint32_t>(since_epoch / std::chrono::seconds(1)),
                         people_ != nullptr ? people_->client_id() : 0});
    }

private:
    entropy& random_;
    const inspector* const people_;
    duration wall_{};
};

} // namespace holdfast::core
