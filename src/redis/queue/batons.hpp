#pragma once

#include "redis/claim/claim_table.hpp"
#include "redis/dialect/dialect.hpp"
#include "redis/pool/node_pool.hpp"
#include "redis/queue/resource_hints.hpp"

#include <chrono>
#include <cstddef>

namespace holdfast::redis {

// Releases leases by giving them to the next waiter: see baton.hpp.
//
// A lease can be given only while no request about its keys is under way. One that arrived later
// could shorten a key on which the next holder relies, or set it anew after that holder has deleted
// it.
class batons {
public:
    batons(claim_table& claims, node_pool& nodes, dialect& d, resource_hints& hints) noexcept
        : claims_(claims),
          nodes_(nodes),
          dialect_(d),
          hints_(hints)
    {}

    // A released lease. `no`: it is released by deleting the keys. `waits`: go_on() when an answer
    // has come, end_wait() after `longest_wait`. `sent`: the answer follows.
    queue_ticket::passing begin(core::claim_id id, core::time_point now);
    queue_ticket::passing go_on(core::claim_id id, core::time_point now);
    // The longest wait is over.
    queue_ticket::passing end_wait(core::claim_id id, core::time_point now);
    static constexpr core::duration longest_wait = std::chrono::milliseconds(2);

    enum class result : std::uint8_t {
        given,    // another client has the lease
        kept,     // nobody has it: the keys are to be deleted
        unusable, // only the node knows, and it does not follow the protocol
    };
    result on_reply(std::size_t node, const request& r, reply answer, core::time_point now);
    bool say_again(std::size_t node, const request& r, core::time_point now);
    // No answer will come: only the node knows who has the lease.
    void lose_answer(core::claim_id id) noexcept;
    // Leases that are being given.
    std::size_t under_way() const noexcept { return under_way_; }

private:
    bool may_give(const claim& c, std::size_t node, core::time_point now) const noexcept;
    void send(core::claim_id id, std::size_t node, bool by_text, core::time_point now);

    claim_table& claims_;
    node_pool& nodes_;
    dialect& dialect_;
    resource_hints& hints_;
    // Answers were slower than the longest wait: none is made until then.
    core::time_point hasty_until_ = core::long_ago;
    std::size_t under_way_ = 0;
};

} // namespace holdfast::redis
