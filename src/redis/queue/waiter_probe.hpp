#pragma once

#include "core/remote_queue.hpp"
#include "redis/claim/claim_table.hpp"
#include "redis/dialect/common_calls.hpp"
#include "redis/pool/node_pool.hpp"
#include "redis/queue/waiter_notices.hpp"

namespace holdfast::redis {

// The queue between processes, as the locker sees it. Finds out whether other processes wait for
// the resource of a claim. They may have another queue node, so all nodes are asked. Where the
// queue node's key is not ours, another process may have been granted it; that process waits for
// the other nodes, not in the queue.
class waiter_probe final : public core::remote_queue {
public:
    waiter_probe(claim_table& claims, node_pool& nodes, common_calls& calls) noexcept
        : claims_(claims),
          nodes_(nodes),
          calls_(calls),
          notices_(claims, nodes, calls)
    {}

    // core::remote_queue
    bool is_usable() const noexcept override { return nodes_.keep_queues(); }
    void probe_waiters(core::claim_id id, core::time_point now) override;
    // Answers are still to come that may show that there are none.
    bool is_probing(core::claim_id id) const noexcept override;
    void report_waiters(core::claim_id id, core::time_point now) override { notices_.ask(id, now); }
    bool reports_waiters(core::claim_id id) const noexcept override { return notices_.is_set(id); }
    void leave_open(core::claim_id id) override { claims_[id].window_due = true; }

    waiter_notices& notices() noexcept { return notices_; }

    // `answer`: empty if the node is gone. True if no other process waits.
    bool on_reply(std::size_t node, core::claim_id id, reply answer);

private:
    claim_table& claims_;
    node_pool& nodes_;
    common_calls& calls_;
    waiter_notices notices_;
};

} // namespace holdfast::redis
