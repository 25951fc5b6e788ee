#pragma once

#include "core/time.hpp"
#include "redis/claim/baton.hpp"
#include "redis/quorum/majority.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace holdfast::redis {

// What a claim remembers of the queue, beyond its flags.
struct queue_ticket {
    // How far the release by a baton is: see batons.
    enum class passing : std::uint8_t {
        no,
        waits,    // for answers to earlier requests
        sent,     // to the queue node
        in_doubt, // the answer is lost: only the queue node knows who has the lease
        done,     // another client has it
    };
    std::uint64_t survey = 0; // of the key's owners, under way; 0: none
    core::time_point queue_node_held_until{};
    core::time_point asks_again_at{};       // all nodes, whatever the queue node has said meanwhile
    core::time_point entered = core::never; // before the first request for a place
    core::time_point keys_end = core::long_ago; // no key ends later, as nodes have told
    core::duration answered_in{};   // by the queue node, to the last request for a place
    std::optional<custody> baton{}; // the lease has come by it
    core::owner_token discarded{};  // the last lease that came too late
    passing gives = passing::no;
    std::uint8_t gave_at = max_nodes; // which node
    core::time_point release_ends{};  // at the latest
    core::duration release_left{};    // until then, when its latest requests were queued
    bool strayed = false; // a request about the key is without an answer, and may still arrive
};

// The place of a claim in the queue between processes, and its turn.
struct queue_place {
    // The claim is not in the queue. Keeps the memory of an earlier use.
    void begin() noexcept
    {
        node = max_nodes;
        answer_due = has_waited = handed_over = everywhere = false;
        others_first = stays_out = tracked = surveyed = cut_off = false;
        if (ticket)
            *ticket = {};
    }
    // It goes to the queue of a node, where it asks again at that time at the latest.
    void enter(std::size_t queue_node, core::time_point asks_again_at);
    // It has asked the queue node for its turn.
    void asked() noexcept;
    // The queue node has answered that it is not our turn. True if that is the first time.
    bool waits() noexcept;
    // The same, and it keeps out of a window until it `ends`. What nodes have said about the owners
    // of the key may be out of date then.
    bool waits_for_window(core::time_point ends, core::time_point asks_again_at) noexcept;
    // The node has handed its key off to us.
    void has_turn(std::size_t queue_node) noexcept;

    std::uint8_t node = max_nodes; // where it is queued, or was handed off to us; or max_nodes
    bool answer_due = false;       // from the queue node: whether it is our turn
    bool has_waited = false;       // it was not our turn when we came
    bool handed_over = false;      // the queue node's key is ours, the others will follow
    bool everywhere = false;       // it is in all queues, or is to join them
    bool others_first = false;     // another client has the queue node's key, or got ours
    bool stays_out = false;        // it keeps out of an open window
    bool tracked = false;          // the queue node tells us when its key changes
    bool surveyed = false;         // the owners of the key were asked for since that was last due
    bool cut_off = false;          // too few nodes answered when it looked for a queue node
    std::unique_ptr<queue_ticket> ticket; // once it has been queued
};

// Whether other processes wait for the resource of a claim: the answers of nodes in, a finding out.
class waiter_look {
public:
    // A new look. asked(): a node was asked; answered(): it has answered, or never will.
    void begin() noexcept { in_vain_ = false; }
    void asked() noexcept { ++open_; }
    void answered(bool nobody_waits) noexcept
    {
        --open_;
        in_vain_ = in_vain_ || !nobody_waits;
    }

    bool is_under_way() const noexcept { return open_ != 0; }
    // Whether all answers so far are that no client waits.
    bool may_succeed() const noexcept { return !in_vain_; }

private:
    std::uint8_t open_ = 0;
    bool in_vain_ = false;
};

} // namespace holdfast::redis
