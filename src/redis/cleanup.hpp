#pragma once

#include "redis/claim/claim_table.hpp"
#include "redis/dialect/dialect.hpp"
#include "redis/pool/node_pool.hpp"
#include "redis/queue/resource_hints.hpp"

#include <bitset>
#include <cstddef>

namespace holdfast::redis {

// Deletes the keys of claims that have ended, or hands them off to the next in the queue.
class cleanup {
public:
    cleanup(claim_table& claims, node_pool& nodes, dialect& d, resource_hints& hints) noexcept
        : claims_(claims),
          nodes_(nodes),
          dialect_(d),
          hints_(hints)
    {}

    // Asks every reachable node that may hold our key. `was_lease`: it was a lease, not an attempt.
    void ask(core::claim_id id, bool was_lease, core::time_point now);
    // The same for one node that has become reachable.
    void ask_late(core::claim_id id, std::size_t node, core::time_point now);
    bool say_again(std::size_t node, const request& r, core::time_point now);
    // A node has answered. lose_answer(): no answer will come.
    void on_reply(std::size_t node, const request& r, reply answer, core::time_point now);
    void lose_answer(std::size_t node, core::claim_id id);
    // Takes the entry of a lease out of the queue of a node, if it may be there.
    void leave_queue(core::claim_id id, std::size_t node, core::time_point now);

    // Whether an answer about this claim is still to come.
    bool is_under_way(const claim& c) const noexcept;
    // Whether an answer matters although the ttl is over. A node may have put the claim into its
    // queue, and given it a lease that only we could delete; or it tells that others wait. Its
    // answer, or the end of the connection, ends that.
    bool awaits_news(const claim& c) const noexcept;
    // Stops waiting for answers about it.
    void forget(claim& c) noexcept;
    // Deletions under way, of all claims.
    std::size_t under_way() const noexcept { return under_way_; }

private:
    bool opens_window(const claim& c, core::time_point now);
    void send_leave(core::claim_id id, std::size_t node, core::time_point now);
    // How a deletion is sent: see request.
    struct manner {
        bool by_text = false, follows = false;
    };
    void remove(core::claim_id id, std::size_t node, manner how, core::time_point now);
    void hand_off(core::claim_id id, std::size_t node, manner how, core::time_point now);
    void sent(claim& c, std::size_t node) noexcept;
    void ended(claim_node& n) noexcept;
    bool may_have_gift(
        const claim& c, std::size_t node, const request& r, std::int64_t answer) const noexcept;
    void note_deletion(
        claim& c, std::size_t node, const request& r, std::int64_t answer, core::time_point now);

    claim_table& claims_;
    node_pool& nodes_;
    dialect& dialect_;
    resource_hints& hints_;
    std::size_t under_way_ = 0;
};

} // namespace holdfast::redis
