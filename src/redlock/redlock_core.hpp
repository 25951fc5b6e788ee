#pragma once

#include "core/backend.hpp"
#include "core/deadlines.hpp"
#include "core/ring.hpp"
#include "core/slots.hpp"
#include "redlock/claim.hpp"
#include "redlock/node_session.hpp"
#include "redlock/scripts.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

// The Redlock algorithm over sessions with independent nodes: plain mode.
//
// Every request of a claim to a node goes over the same connection, in order: a deletion can never
// overtake the SET that it cleans up after. A SET is never sent twice for one attempt.
class redlock_core final : public core::backend_core, private session_owner {
public:
    // Precondition: 1 to max_nodes nodes. `node_timeout`: none for the default by the ttl.
    redlock_core(std::vector<node_settings> nodes, std::optional<core::duration> node_timeout,
        std::uint64_t jitter_seed);

    core::claim_id attempt(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_terms& terms,
        core::time_point now) override;
    errc abandon(core::claim_id id, core::time_point now) override;
    void renew(std::span<const core::claim_id> claims, bool again, core::time_point now) override;
    void release(core::claim_id id, core::time_point now) override;
    void watch(std::uint64_t tag, std::string_view resource, core::time_point now) override;
    core::duration patience(core::duration ttl) const noexcept override;

    std::optional<core::backend_event> next_event() override;
    core::time_point wake_at() const noexcept override;
    void wake(core::time_point now) override;
    std::span<core::connection* const> connections() noexcept override { return connections_; }
    bool drained() const noexcept override;
    void close(core::time_point now) override;
    std::vector<node_stats> nodes() const override;

private:
    enum class what : std::uint8_t {
        set,
        heal,
        remove,
        remove_by_text, // the same with the script's text, once, because the node had forgotten it
        renew,
        renew_by_text,
        type,
        time_left
    };

    // One renewal call to one node: its reply has a number for each claim, in order.
    struct batch {
        std::vector<core::claim_id> claims;
        core::time_point sent{};
    };

    // A question when a resource may be free.
    struct watched {
        std::uint64_t tag = 0;
        std::array<core::time_point, max_nodes> free_at{};
        std::uint8_t outstanding = 0, answers = 0, conflicts = 0;
    };

    // session_owner
    std::string admit(std::size_t node) override;
    void on_ready(std::size_t node, core::time_point now) override;
    void on_reply(std::size_t node, const request& r, reply answer, core::time_point now) override;
    void on_orphaned(std::size_t node, const request& r, core::time_point now) override;
    void on_down(std::size_t node, core::time_point now) override;

    // Commands that go to several nodes are encoded once; sending takes the encoded one.
    void encode_set(const claim& c);
    void encode_remove(const claim& c, bool by_text);
    void send_set(std::size_t node, core::claim_id id, what kind, core::time_point now);
    void send_remove(std::size_t node, core::claim_id id, bool by_text, core::time_point now);
    void send_batch(std::size_t node, std::span<const core::claim_id> claims, bool by_text,
        core::time_point now);
    void send(std::size_t node, what kind, std::uint64_t reference, core::time_point now);

    void on_vote(std::size_t node, core::claim_id id, vote v, core::time_point now);
    void on_healed(std::size_t node, core::claim_id id, vote v, core::time_point now);
    void on_removed(
        std::size_t node, core::claim_id id, bool by_text, reply answer, core::time_point now);
    void on_renewed(
        std::size_t node, core::slot_id id, bool by_text, reply answer, core::time_point now);
    void on_watched(
        std::size_t node, core::slot_id id, what kind, reply answer, core::time_point now);
    void on_watch_ended(core::slot_id id);
    void fail_session(std::size_t node, core::time_point now);

    void limit_round(core::claim_id id, core::time_point now);
    void settle_attempt(core::claim_id id, core::time_point now);
    void refuse(core::claim_id id, errc reason, core::time_point now);
    void settle_release(core::claim_id id, bool out_of_time, core::time_point now);
    void clean(core::claim_id id, core::time_point now);
    void forget_if_clean(core::claim_id id);
    void forget(core::claim_id id);
    void report(core::claim_id id, core::time_point now);
    void end_batch(std::size_t node, core::slot_id id);
    void give_up_unsent(claim& c) noexcept;
    void on_round_timeout(core::claim_id id, core::time_point now);
    errc why_unreachable(const claim& c) const noexcept;
    bool removing(const claim& c) const noexcept;
    void emit(const core::backend_event& event) { events_.push(event); }

    std::optional<core::duration> node_timeout_;
    std::vector<std::unique_ptr<node_session>> sessions_;
    std::vector<core::connection*> connections_;

    core::slots<claim> claims_;
    core::slots<batch> batches_;
    core::slots<watched> watches_;
    core::deadlines claim_ends_; // of the round, of the release, or of all memory of the claim
    core::ring<core::backend_event> events_;
    std::string command_; // the one being encoded
    std::vector<core::claim_id> to_renew_;
};

} // namespace holdfast::redis
