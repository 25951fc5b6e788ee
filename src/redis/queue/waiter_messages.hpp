#pragma once

#include "redis/claim/claim_table.hpp"
#include "redis/node/request.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace holdfast::redis {

// What nodes tell the claims that wait in their queues, by pushes or by the answers of the queue's
// scripts. Each message counts only if the claim may still be in the queue of that node.
class waiter_messages {
public:
    explicit waiter_messages(const claim_table& claims) noexcept : claims_(claims) {}

    // The claim whose turn it may be, if the push says so.
    std::optional<core::claim_id> turn_in_push(std::size_t node, reply push) const;
    // The claim that is told of a turn by the answer to its request for a place, when it waits
    // elsewhere, or has gone on without its turn.
    std::optional<core::claim_id> turn_in_answer(
        std::size_t node, const request& r, reply answer) const;

    // The lease of another client is given to a claim: by a push; or by the answer of a script,
    // which says that it was. Each counts once.
    struct gift {
        core::claim_id claim = 0;
        baton given{};
    };
    std::optional<gift> gift_in_push(std::size_t node, reply push) const;
    std::optional<gift> gift_in_answer(std::size_t node, const request& r, reply answer) const;

private:
    std::optional<gift> accept(std::size_t node, core::claim_id id, std::string_view text) const;

    const claim_table& claims_;
};

} // namespace holdfast::redis
