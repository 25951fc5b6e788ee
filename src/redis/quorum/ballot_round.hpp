#pragma once

#include "redis/quorum/vote_round.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace holdfast::redis {

// A token is a ballot times this, plus a place: one for each holder that a lease has in one
// process. Tokens stay below 2^53, which numbers in Lua hold exactly.
inline constexpr std::uint64_t tokens_in_ballot = 128;

// The answer of a node's register to a ballot.
enum class ballot_answer : std::uint8_t {
    accepted, // the ballot is larger than each that the register had accepted, and is stored
    refused,  // it is not larger, or the node has no registers
    unknown,  // no answer; one may come late
};

// One attempt to be granted a resource with a fencing token: the answers of nodes in, the verdict
// out.
//
// The client chooses a ballot and sends it to all nodes, to each behind the request for the key, on
// the same connection. A register accepts only larger and larger ballots. A node counts if it has
// granted the key and its register has then accepted the current ballot of the attempt. The token
// belongs to the ballot that a majority has accepted: two such majorities have a node in common, so
// no other attempt completes with the same ballot, and an attempt that begins later completes with
// a larger one.
//
// Source: the first phase of Paxos (Lamport, "The part-time parliament", 1998), and the timestamps
// of Attiya, Bar-Noy and Dolev ("Sharing memory robustly in message-passing systems", 1995).
//
// The rules, each of which has a counterexample in the model if it is left out:
// - A ballot that precedes a request for the key does not count: the key may have been another
//   client's in between.
// - After another proposal only the acceptance of the new ballot counts, at all nodes.
// - A node that holds our key without having accepted the ballot, or a later one of this attempt,
//   keeps other clients out and does not count, not even for the end of the lease: it may have
//   forgotten leases and ballots.
//
// The verdict is that of a vote_round: a node is `granted` if it counts. While it may still count
// it is `pending`.
class ballot_round {
public:
    ballot_round() = default;

    // Without a ballot, propose() must follow before send(). Precondition: 1 <= nodes <= max_nodes.
    explicit ballot_round(std::size_t nodes, std::uint64_t ballot = 0) noexcept;

    // A request for the key is sent to the node.
    void ask_for_key(std::size_t node) noexcept;
    // The answer to it: the node holds our key.
    void record_key(std::size_t node) noexcept;
    // Anything else; the latest answer counts, and a node that holds our key continues to do so.
    // Precondition: v is refused, failed or unknown.
    void record(std::size_t node, vote v) noexcept;
    // The node holds our key no longer. Before publish(), a node that counts remains in the votes.
    // After it, the node counts again once it has the key and then accepts a later ballot.
    void lose_key(std::size_t node) noexcept;

    // The node has answered, or it is known, that it does not count in this attempt, whatever it
    // answers later.
    void exclude(std::size_t node) noexcept;

    // The current ballot, and its number among those of the attempt: 1, 2, …; 0 without one.
    std::uint64_t ballot() const noexcept { return ballot_; }
    std::uint16_t number() const noexcept { return number_; }

    // The current ballot is sent to the node, which has been asked for the key before.
    void send(std::size_t node) noexcept;
    // Whether the node has been sent the current ballot, or one that does not count.
    bool was_sent(std::size_t node) const noexcept
    {
        return nodes_[node].state != ballot_state::none && nodes_[node].number == number_;
    }
    bool is_current(std::uint16_t number) const noexcept { return number == number_; }
    // Whether the node holds our key and has to be sent the current ballot; the first such node
    // from `begin` on.
    bool is_due(std::size_t node) const noexcept { return is_due(nodes_[node]); }
    std::optional<std::size_t> next(std::size_t begin = 0) const noexcept;
    // The answer to the ballot with that number, however late.
    void record_answer(std::size_t node, std::uint16_t number, ballot_answer a) noexcept;

    // Whether only a larger ballot can lead to a majority.
    bool needs_larger() const noexcept;
    // A larger one; next() then names the nodes. After publish(): a ballot for spare nodes. It goes
    // to nodes that hold our key and do not count. Precondition: larger than ballot().
    void propose(std::uint64_t ballot) noexcept;
    // There will be no larger one: nodes that have refused the ballot are `refused`.
    void give_up() noexcept;

    verdict judge() const noexcept { return votes_.judge(); }
    verdict judge_now() const noexcept { return votes_.judge_now(); }
    vote of(std::size_t node) const noexcept { return votes_.of(node); }
    const vote_round& votes() const noexcept { return votes_; }
    // Whether the node holds our key, as far as it has told.
    bool has_key(std::size_t node) const noexcept { return nodes_[node].has_key; }
    // Whether it has refused the last ballot that it was sent.
    bool is_behind(std::size_t node) const noexcept
    {
        return nodes_[node].has_key && nodes_[node].state == ballot_state::refused;
    }
    // Whether it holds our key and does not count, and no ballot for it is under way.
    bool could_be_spare(std::size_t node) const noexcept;

    // The lease has the token of the current ballot. Precondition: the verdict is `acquired`. A
    // node that was excluded may become a spare one, with a ballot that it has not been sent yet.
    void publish() noexcept;
    // The lease of another client is ours: its ballot is the current one, and published. All nodes
    // count, since of that lease no node holds the key without counting: all_keys_count().
    // Precondition: a new round without a ballot.
    void take_over(std::uint64_t ballot) noexcept;
    // After take_over(): a node counts once it has confirmed that it holds the key: record_key().
    void begin_confirmation() noexcept;
    // Whether a ballot was sent to the node, and it may yet answer.
    bool is_under_way(std::size_t node) const noexcept
    {
        return nodes_[node].state == ballot_state::sent;
    }
    // Whether each node that holds our key counts.
    bool all_keys_count() const noexcept;
    // The ballot of the lease; 0 before publish().
    std::uint64_t published() const noexcept { return published_; }
    // Whether a ballot with this number was proposed after that.
    bool is_later(std::uint16_t number) const noexcept
    {
        return published_ != 0 && number > published_number_;
    }

private:
    enum class ballot_state : std::uint8_t { none, sent, accepted, refused, silent };
    struct node_state {
        bool has_key = false, excluded = false;
        ballot_state state = ballot_state::none;
        std::uint16_t number = 0; // of the last ballot that it was sent
    };

    bool counts(const node_state& n) const noexcept;
    bool is_due(const node_state& n) const noexcept;
    void judge(std::size_t node) noexcept;
    void vote_is(std::size_t node, vote v) noexcept;

    vote_round votes_;
    std::array<node_state, max_nodes> nodes_{};
    std::uint64_t ballot_ = 0, published_ = 0;
    std::uint8_t size_ = 0;
    std::uint16_t number_ = 0, published_number_ = 0;
    bool given_up_ = false;
};

} // namespace holdfast::redis
