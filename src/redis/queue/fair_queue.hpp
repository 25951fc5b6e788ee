#pragma once

#include "core/backoff.hpp"
#include "redis/claim/claim_table.hpp"
#include "redis/dialect/dialect.hpp"
#include "redis/pool/node_pool.hpp"
#include "redis/queue/key_owners.hpp"
#include "redis/queue/key_tracking.hpp"
#include "redis/queue/resource_hints.hpp"

#include <string_view>

namespace holdfast::redis {

// How claims wait for their turn in the queue between processes, at the queue node of a resource.
//
// Everything here is a hint and may be lost, late or wrong: the notification, the queue, which node
// keeps it. So each waiter asks again, at least once a second, and then also checks which client
// has the key on the other nodes. That interval and the ttl of a hand-off limit the cost of a
// crash.
class fair_queue {
public:
    fair_queue(claim_table& claims, node_pool& nodes, dialect& d, resource_hints& hints,
        core::jitter& jitter) noexcept
        : claims_(claims),
          nodes_(nodes),
          dialect_(d),
          hints_(hints),
          jitter_(jitter),
          owners_(claims, nodes, d.common()),
          tracking_(claims, nodes, d.common())
    {}

    // What is to be done now for a claim.
    struct outcome {
        enum class kind : std::uint8_t {
            nothing,
            round, // it asks the other nodes: it is its turn, or there is no queue
            refused,
        };
        kind then = kind::nothing;
        bool began_to_wait = false; // for the first time; independent of `then`
        errc reason{};
        core::claim_id claim = 0;
    };

    // The queue node of a new attempt that must wait for its turn, or max_nodes.
    std::size_t node_for(claim& c, core::time_point now);
    void join(core::claim_id id, std::size_t queue_node, core::time_point now);
    // A reply to any of the queue's requests.
    outcome on_reply(std::size_t node, const request& r, reply answer, core::time_point now);
    bool say_again(std::size_t node, const request& r, core::time_point now);
    // The timer of a waiting claim has expired.
    outcome on_due(core::claim_id id, core::time_point now);
    // Its queue node can no longer be used.
    outcome change_node(core::claim_id id, core::time_point now);

    // A push about a tracked key. Others are ignored.
    void on_tracking(std::size_t node, reply push, core::time_point now);
    // The node has handed its key off to a waiting claim.
    void note_turn(core::claim_id id, std::size_t node, core::time_point now);

    // Whether an attempt that a node has refused gives up: the key was handed off to another
    // client.
    bool gives_way(std::size_t node, claim& c, core::time_point now) const noexcept;

    // The claim no longer waits. forget(): the claim is forgotten.
    void stop_waiting(claim& c) noexcept { owners_.end(c); }
    void forget(core::claim_id id) noexcept
    {
        owners_.end(claims_[id]);
        tracking_.forget(id);
    }

private:
    outcome on_enqueued(std::size_t node, const request& r, reply answer, core::time_point now);
    outcome on_first(std::size_t node, core::claim_id id, reply answer, core::time_point now);
    void on_changed(std::size_t node, core::claim_id id, core::time_point now);

    void enter(claim& c, std::size_t queue_node, core::time_point now);
    void enqueue(core::claim_id id, bool by_text, core::time_point now);
    void join_all(core::claim_id id, core::time_point now);
    outcome wait(core::claim_id id, std::int64_t held_for_ms, core::time_point now);
    outcome wait_without_place(core::claim_id id);
    outcome go_without_turn(core::claim_id id, core::time_point now);
    outcome stay_out(core::claim_id id, std::int64_t for_ms, core::time_point now);
    outcome take_turn(core::claim_id id, core::time_point asked, core::time_point now);
    outcome judge_owners(core::claim_id id, core::time_point now);
    void distrust_minority(const claim& c, const owner_survey& owners, core::time_point now);
    void send(std::size_t node, std::string_view command, request_kind kind, core::claim_id id,
        core::time_point now);

    claim_table& claims_;
    node_pool& nodes_;
    dialect& dialect_;
    resource_hints& hints_;
    core::jitter& jitter_;
    key_owners owners_;
    key_tracking tracking_;
};

} // namespace holdfast::redis
