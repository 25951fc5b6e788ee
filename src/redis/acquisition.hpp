#pragma once

#include "core/timer_queue.hpp"
#include "redis/claim/claim_table.hpp"
#include "redis/dialect/dialect.hpp"
#include "redis/pool/node_pool.hpp"

#include <optional>

namespace holdfast::redis {

// Opens the rounds of attempts, and records their votes. Asks nodes again that refuse
// although the queue node has handed off its key. In fenced mode, sends a ballot behind each
// request for a key, and larger ones if a majority needs them.
class acquisition {
public:
    acquisition(claim_table& claims, node_pool& nodes, dialect& d) noexcept
        : claims_(claims),
          nodes_(nodes),
          dialect_(d)
    {}

    // Asks all nodes at once, except the queue node if it has handed off its key to us.
    void open(core::claim_id id, core::time_point now);
    // Sets the end of a round: one node timeout after its last request was sent, once a majority
    // has been asked.
    void limit(core::claim_id id, core::time_point now);
    // Asks a node that can be asked now, if an attempt or a lease still waits for it. True if so.
    bool ask_unsent(core::claim_id id, std::size_t node, core::time_point now);
    // The node cannot be asked. True if an attempt or a lease waited for it.
    bool give_up_unsent(core::claim_id id, std::size_t node, core::time_point now);
    // Sends no more requests for this claim. forget(): the claim is forgotten.
    void give_up(core::claim_id id);
    void forget(core::claim_id id) noexcept { asked_again_.erase(core::slot_index(id)); }

    // Asks a node for the key that it has handed off to us.
    void confirm(core::claim_id id, std::size_t node, bool by_text, core::time_point now);
    // Asks all nodes to confirm the keys of a lease that was given to us.
    void confirm_all(core::claim_id id, core::time_point now);

    // Sends a request again with its script in full, if the claim is still open.
    bool say_again(std::size_t node, const request& r, core::time_point now);

    // Records a vote. False if it changes nothing, or if a request that is still open will decide.
    bool record(std::size_t node, const request& r, const key_answer& a, core::time_point now);
    // A node has no key of ours to confirm. If it had granted the key, the key has been lost since.
    // True if that is so; then it is recorded.
    bool finds_missing(std::size_t node, core::claim_id id);

    // The answer to a ballot, or to the question about the largest one. True if the claim is open.
    bool on_ballot(std::size_t node, const request& r, reply answer, core::time_point now);
    // That answer will never come.
    bool lose_ballot(std::size_t node, const request& r, core::time_point now);
    // Sends ballots to nodes that hold the key of a lease and do not count for it.
    void ask_spares(core::claim_id id, core::time_point now);

    // The round has timed out: a silent node has no vote.
    void time_out(core::claim_id id);

    // Asks again those nodes of the next claim that are due to be asked again. Returns that claim.
    std::optional<core::claim_id> ask_again(core::time_point now);
    core::time_point wake_at() const noexcept { return asked_again_.earliest(); }

private:
    // The requests for a key, which are the same for all nodes: valid until others are encoded.
    struct requests {
        std::string_view key, ballot; // the ballot: empty if there is none
    };
    requests encode(const claim& c);
    // Chooses the first ballot of the claim, if it needs one.
    bool has_ballot(claim& c, core::time_point now);
    errc why_not(std::size_t node, claim& c, const requests& all, core::time_point now);
    void ask(core::claim_id id, std::size_t node, const requests& all, core::time_point now);
    static core::duration pause_after(std::size_t refusals, const claim& c) noexcept;
    bool asks_again(std::size_t node, core::claim_id id, core::time_point now);
    // In fenced mode: sends ballots that are due, and a larger one if only that can lead to a
    // majority.
    void go_on(core::claim_id id, core::time_point now);
    void send_ballot(
        core::claim_id id, std::size_t node, std::string_view ballot, core::time_point now);
    void exclude(claim& c, std::size_t node, errc why);
    // Whether a node can be asked to become a spare node of a lease.
    bool is_fit(claim& c, std::size_t node, core::time_point now);

    claim_table& claims_;
    node_pool& nodes_;
    dialect& dialect_;
    core::timer_queue asked_again_; // claims with nodes that have refused
};

} // namespace holdfast::redis
