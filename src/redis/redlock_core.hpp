#pragma once

#include "core/backend.hpp"
#include "core/backoff.hpp"
#include "core/ring.hpp"
#include "core/slot_map.hpp"
#include "core/timer_queue.hpp"
#include "redis/claim.hpp"
#include "redis/contention_hints.hpp"
#include "redis/fence_answer.hpp"
#include "redis/fenced_mode.hpp"
#include "redis/node_session.hpp"
#include "redis/owner_survey.hpp"
#include "redis/polling_windows.hpp"
#include "redis/scripts.hpp"
#include "redis/unfit_queue_nodes.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <array>
#include <bitset>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

// The Redlock algorithm over sessions with independent nodes, with fencing tokens or without.
//
// Every request of a claim to a node goes over the same connection, in order: a deletion can never
// overtake the SET that it cleans up after. A SET is sent again only to a node that has refused it.
//
// Between processes, attempts wait for their turn in a queue at one node, the queue_node of the
// resource: a release there hands the key to the next one, who then asks the other nodes. Safety
// never depends on the queue: a lease is what a majority has granted, and the queue_node has
// granted only once it has confirmed that its key is ours.
//
// What differs in fenced mode is in redlock_fence.cpp.
class redlock_core final : public core::backend_core, private session_owner {
public:
    // Precondition: 1 to max_nodes nodes. `node_timeout`: none for the default by the ttl.
    // `fence`: in fenced mode.
    redlock_core(std::vector<node_settings> nodes, std::optional<core::duration> node_timeout,
        std::uint64_t jitter_seed, const std::optional<fence_settings>& fence = {});

    core::claim_id attempt(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_params& terms,
        core::time_point now) override;
    void abandon(core::claim_id id, core::time_point now) override;
    errc pending_error(core::claim_id id) const noexcept override;
    bool queues() const noexcept override;
    bool can_transfer(core::claim_id id) const noexcept override;
    std::optional<std::uint64_t> transfer(core::claim_id id, std::uint64_t tag) override;
    void renew(std::span<const core::claim_id> claims, bool again, core::time_point now) override;
    void probe_waiters(core::claim_id id, core::time_point now) override;
    bool probing_waiters(core::claim_id id) const noexcept override;
    void leave_open(core::claim_id id) override;
    void release(core::claim_id id, core::time_point now) override;
    void watch(std::uint64_t tag, std::string_view resource, core::time_point now) override;
    core::duration patience(core::duration ttl) const noexcept override;
    core::duration longest_ttl() const noexcept override;

    std::optional<core::backend_event> next_event() override;
    core::time_point wake_at() const noexcept override;
    using backend_core::wake;
    void wake(core::time_point now, core::time_point heard) override;
    std::span<core::connection* const> connections() noexcept override { return connections_; }
    std::size_t cleaning_up() const noexcept override { return deletions_; }
    void close(core::time_point now) override;
    std::vector<node_stats> nodes() const override;

private:
    // How long the queue_node keeps its key for the next client, until that confirms.
    static constexpr core::duration hand_over_ttl = std::chrono::milliseconds(500);

    enum class request_kind : std::uint8_t {
        set,
        ask, // fenced mode's `set`
        ask_by_text,
        write_back,
        write_back_by_text,
        probe,  // what the node is up to, in fenced mode
        record, // what other clients have agreed on with it
        repair,
        remove,
        remove_by_text, // the same with the script's text, once, because the node had forgotten it
        pass_on,        // removes it, or hands it to the next in the queue
        pass_on_by_text,
        renew,
        renew_by_text,
        enqueue,
        enqueue_by_text,
        confirm, // what was handed over to us
        confirm_by_text,
        join, // a queue, without taking what is free
        leave,
        owner, // who has the key
        look,  // whether there is a queue
        first, // who is the first in it
        track,
        tracked,
        type,
        time_left
    };

    // One renewal call to one node: its reply has a number for each claim, in order.
    struct batch {
        std::vector<core::claim_id> claims;
    };

    // The locker's question when a resource may be free.
    struct watched {
        std::uint64_t tag = 0;
        std::array<core::time_point, max_nodes> free_at{};
        std::uint8_t outstanding = 0, answers = 0, conflicts = 0;
    };

    // The question of a claim that is queued: who has the key on each node.
    struct survey {
        core::claim_id claim = 0;
        owner_survey owners;
    };

    // session_owner
    std::string admit(std::size_t node) override;
    void on_ready(std::size_t node, core::time_point now) override;
    void on_push(std::size_t node, reply push, core::time_point now) override;
    void on_reply(std::size_t node, const request& r, reply answer, core::time_point now) override;
    void on_sent_late(std::size_t node, const request& r, core::time_point now) override;
    void on_orphaned(std::size_t node, const request& r, core::time_point now) override;
    void on_down(std::size_t node, core::time_point now) override;

    // Commands that go to several nodes are encoded once; sending takes the encoded one.
    void encode_ask(const claim& c, bool by_text, core::time_point now);
    void encode_set(const claim& c);
    void encode_remove(const claim& c, bool by_text);
    void send_ask(std::size_t node, core::claim_id id, bool by_text, core::time_point now);
    void send_set(std::size_t node, core::claim_id id, request_kind kind, core::time_point now);
    void encode_pass_on(core::claim_id id, std::size_t node, bool by_text);
    void send_remove(std::size_t node, core::claim_id id, request_kind kind, core::time_point now);
    void encode_enqueue(core::claim_id id, bool by_text, core::time_point now);
    void send_enqueue(core::claim_id id, bool by_text, core::time_point now);
    void send_confirm(std::size_t node, core::claim_id id, bool by_text, core::time_point now);
    void encode_renewal(std::span<const core::claim_id> claims, bool by_text);
    void send_batch(std::size_t node, std::span<const core::claim_id> claims, bool by_text,
        core::time_point now);
    void send(std::size_t node, request_kind kind, std::uint64_t reference, core::time_point now);

    // What a node has said, or not, to a request that may make its key ours.
    struct ballot {
        vote said = vote::unknown;
        errc why{};              // it is neither yes nor no, if that is known
        std::uint64_t start = 0; // in fenced mode, of the block of tokens that it has granted
    };
    void on_vote(std::size_t node, core::claim_id id, const ballot& b, core::time_point asked,
        core::time_point now);
    void on_repaired(std::size_t node, core::claim_id id, vote v, core::time_point now);
    void on_removed(
        std::size_t node, core::claim_id id, request_kind kind, reply answer, core::time_point now);
    void on_enqueued(std::size_t node, const request& r, reply answer, core::time_point now);
    void begin_turn(
        core::claim_id id, core::time_point asked, std::uint64_t start, core::time_point now);
    void note_queue_error(std::size_t node, core::claim_id id, reply answer, core::time_point now);
    bool note_if_unusable(std::size_t node, core::claim_id id, reply answer, core::time_point now);
    void on_confirmed(std::size_t node, const request& r, reply answer, core::time_point now);
    bool finds_missing(std::size_t node, claim& c, core::claim_id id, core::time_point now);
    void on_renewed(std::size_t node, const request& r, reply answer, core::time_point now);
    void on_watched(
        std::size_t node, core::slot_id id, request_kind kind, reply answer, core::time_point now);
    void on_watch_ended(core::slot_id id);
    void fail_session(std::size_t node, core::time_point now);

    // Fenced mode.
    std::string_view lock_of(std::string_view resource);
    void name_queue(const claim& c);
    void name_window(const claim& c);
    fenced_calls::wanted wanted_by(
        const claim& c, bool by_text, core::time_point now) const noexcept;
    void greet_fenced(std::size_t node, core::time_point now);
    bool in_quarantine(std::size_t node, core::time_point now) const noexcept
    {
        return fence_ && now < fence_->quarantine_ends[node];
    }
    bool is_storable(
        const fence_answer& granted, std::uint64_t block, core::time_point now) const noexcept;
    fence_answer hear(std::size_t node, const request& r, reply answer, core::time_point now);
    void ask_for_record(std::size_t node, core::time_point now);
    void on_record(std::size_t node, reply answer);
    void on_asked(std::size_t node, const request& r, reply answer, core::time_point now);
    void on_placed(std::size_t node, const request& r, reply answer, core::time_point now);
    void write_back_to_those_behind(core::claim_id id, core::time_point now);
    void send_write_back(
        const token_round::write_back& r, core::claim_id id, bool by_text, core::time_point now);
    void on_written_back(std::size_t node, const request& r, reply answer, core::time_point now);
    void settle_write_back(
        std::size_t node, core::claim_id id, write_back_answer said, core::time_point now);
    void encode_fenced_renewal(std::span<const core::claim_id> claims, bool by_text);

    enum class among : std::uint8_t {
        all,
        untried, // those that were not the queue_node of this attempt before
        holding  // those that may have our key
    };
    std::size_t queue_node_of(
        const claim& c, core::time_point now, among which = among::all) const noexcept;
    bool may_be_queue_node(
        std::size_t node, const claim& c, among which, core::time_point now) const noexcept;
    std::string place_of(core::claim_id id) const;
    void join_queue(core::claim_id id, std::size_t queue_node, core::time_point now);
    void change_queue_node(core::claim_id id, core::time_point now);
    void wait_in_queue(core::claim_id id, std::int64_t held_for_ms, core::time_point now);
    void tell_of_wait(claim& c);
    void stay_out(core::claim_id id, std::int64_t for_ms, core::time_point now);
    bool opens_window(const claim& c, core::time_point now);
    void on_queue_deadline(core::claim_id id, core::time_point now);
    void ask_for_owners(core::claim_id id, core::time_point now);
    void on_owner(std::size_t node, core::slot_id id, reply answer, core::time_point now);
    void judge_owners(core::claim_id id, core::time_point now);
    void distrust_minority(const claim& c, const owner_survey& owners, core::time_point now);
    void end_survey(claim& c) noexcept;
    core::time_point time_of_look(core::time_point now) noexcept;
    void ask_who_is_first(core::claim_id id, core::time_point now);
    void on_looked(std::size_t node, core::claim_id id, reply answer);
    bool gives_way(std::size_t node, claim& c, core::time_point now) const noexcept;
    void join_all(core::claim_id id, core::time_point now);
    void leave_queue(std::size_t node, core::claim_id id, core::time_point now);
    void on_first(std::size_t node, core::claim_id id, reply answer, core::time_point now);
    void on_tracked(std::size_t node, core::claim_id id, reply answer, core::time_point now);
    void forget_tracking(core::claim_id id) noexcept;
    void on_turn(std::size_t node, std::string_view message, core::time_point now);
    void on_changed(std::size_t node, core::claim_id id, core::time_point now);
    bool ask_again(std::size_t node, core::claim_id id, core::time_point now);
    void ask_those_again(core::claim_id id, core::time_point now);

    void begin_round(core::claim_id id, core::time_point now);
    void limit_round(core::claim_id id, core::time_point now);
    void settle_attempt(core::claim_id id, core::time_point now);
    void refuse(core::claim_id id, errc reason, core::time_point now, bool transient = false);
    void settle_release(core::claim_id id, bool out_of_time, core::time_point now);
    void clean(core::claim_id id, core::time_point now);
    void ask_to_delete(core::claim_id id, const std::bitset<max_nodes>& due, core::time_point now);
    void forget_if_clean(core::claim_id id);
    void forget(core::claim_id id);
    void report(core::claim_id id, core::time_point now);
    void end_batch(std::size_t node, core::slot_id id);
    void give_up_unsent(claim& c) noexcept;
    void on_round_timeout(core::claim_id id, core::time_point now);
    void lasts_longer(core::claim_id id, core::duration ttl, core::time_point now);
    struct obstacle {
        errc reason = errc::unreachable;
        bool transient = false; // by itself
    };
    obstacle why_unreachable(const claim& c) const noexcept;
    errc why_down(std::size_t node) const noexcept;
    bool removing(const claim& c) const noexcept;
    void end_deletion(claim_node& n) noexcept
    {
        deletions_ -= n.deleting ? 1u : 0u;
        n.deleting = false;
    }
    void emit(const core::backend_event& event) { events_.push(event); }

    std::optional<core::duration> node_timeout_;
    core::jitter jitter_;
    std::string channel_;
    contention_hints contention_;
    polling_windows windows_;
    unfit_queue_nodes unfit_;
    std::vector<std::unique_ptr<node_session>> sessions_;
    std::vector<core::connection*> connections_;

    core::slot_map<claim> claims_;
    boost::unordered_flat_map<std::uint64_t, core::claim_id> tracked_; // by hash of the resource
    core::slot_map<batch> batches_;
    core::slot_map<watched> watches_;
    core::slot_map<survey> surveys_;
    core::timer_queue claim_ends_;  // of the stage it is in, or of all memory of the claim
    core::timer_queue asked_again_; // nodes that have refused a claim
    core::ring<core::backend_event> events_;
    std::string command_; // the one being encoded
    std::string queue_;   // the name of a queue
    std::string window_;  // the name of the key of a window
    std::string lock_;    // the name of a lock
    std::vector<core::claim_id> to_renew_;
    std::size_t deletions_ = 0;          // under way
    std::unique_ptr<fenced_mode> fence_; // none in plain mode
};

} // namespace holdfast::redis
