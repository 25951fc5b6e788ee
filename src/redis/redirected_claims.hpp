#pragma once

#include "core/backend.hpp"
#include "redis/claim/claim_table.hpp"
#include "redis/node/redirection.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace holdfast::redis {

// The claims of a primary of a cluster whose own SET, renewal or deletion was sent elsewhere. Only
// such a claim may go there: for another one in the same slot, this primary may still have the key.
class redirected_claims {
public:
    struct entry {
        core::claim_id claim = 0;
        std::uint64_t tag = 0; // of the claim
        redirection where{};
    };

    explicit redirected_claims(const claim_table& claims) noexcept : claims_(claims) {}

    void note(core::claim_id id, const redirection& where)
    {
        if (const claim* const c = claims_.find(id))
            entries_.push_back({id, c->tag, where});
    }
    bool empty() const noexcept { return entries_.empty(); }
    std::optional<entry> next()
    {
        if (entries_.empty())
            return std::nullopt;
        entry oldest = std::move(entries_.front());
        entries_.pop_front();
        return oldest;
    }

private:
    const claim_table& claims_;
    std::deque<entry> entries_;
};

} // namespace holdfast::redis
